// Package machines runs locksmith where its own tests do not: on kernels that lack system calls,
// or whose containers refuse them, and on other processors. README.md beside this file has the
// results. And it looks at living holders from other containers, from which boots, pids, clocks and
// kernel locks seem to be others.
//
//	go test ./test/machines                                  # 386, and all calls refused at once
//	go test ./test/machines -long -timeout 1h                # all processors, and each call
//	go test ./test/machines -long -update -timeout 1h        # writes README.md
//
// A filter of seccomp(2) refuses the calls, as it does in a container. Programs for 386 run on
// the kernel for amd64. Those for arm64, s390x and riscv64 run by qemu's user mode, which
// translates each system call: Debian's package qemu-user-static has it. Containers are namespaces of
// unshare(1), with a boot id of their own mounted over that in /proc, as systemd-nspawn and LXC do.
//
// # What it cannot show
//
// An old kernel lacks more than those calls, and none was booted. Under qemu the order in which
// memory is seen is that of amd64, and so is the kernel.
package machines
