// Package guest boots several hosts and a server in a user-mode Linux, a kernel that runs as an
// ordinary process: no privilege is needed, and nothing of the machine is touched. The tests of
// storage on a network, called labs, run twice: outside, where they boot guests, and inside a
// guest.
//
// A lab has a directory that says what server is started and what hosts mount: lab.sh tells
// what is in it, boots the guest, and can be used by hand for a look around. There
// inside/init starts the server, makes the hosts and runs the test again, beside the server.
// A host is a set of namespaces (network, name, pids, IPC, mounts) with a link of its own to
// the server and mounts of its own; the kernel keeps a client and caches for each. The test
// has commands in inside/bin:
//
//	onhost K COMMAND…            runs a command on host K
//	hostnet K up|down            a host's link
//	suspend SECONDS              suspends all hosts and the server
//
// A guest keeps one processor busy for half of its time, and slows down guests on other processors.
// It needs the Debian packages user-mode-linux, iproute2, busybox-static and e2fsprogs, and
// those that the lab names in needs, on amd64; on a processor with AMX a C compiler, too (see
// outside/state.c).
//
// # What it cannot show
//
// All hosts have one kernel: one clock, so that none is an hour off, and one
// processor, so that two hosts never run at the same instant, though requests
// of theirs are under way together. No host crashes as a whole. Starting a
// program takes ten times as long as elsewhere.
package guest
