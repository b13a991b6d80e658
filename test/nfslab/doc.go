// Package nfslab tests nfs: locks on real NFS: several client hosts with caches
// of their own, and a server that can be cut off, stopped and crashed. It all
// happens inside a user-mode Linux, a kernel that runs as an ordinary process:
// no privilege is needed, and nothing of the machine is touched.
//
// # Running it
//
//	go test -v ./test/nfslab
//	go test -v ./test/nfslab -run TestLab/v3-ext4 -scenarios 'stale|crash$'
//	go test -v ./test/nfslab -run TestLab/v4 -scenarios 'requests|waiters|handoff|increments'
//	go test -timeout 90m -v ./test/nfslab -run 'TestLab/v(3|4.2)-ext4' -scenarios '^crashes$'
//	go test -timeout 4h ./test/nfslab -scenarios .
//
// A cell is an NFS version and the file system that the server exports; each is
// one guest, and one test of TestLab, with default mount options. The table in lab_test.go
// says which scenario runs where: those that find most, in the two cells that differ most,
// which takes two minutes; -scenarios runs others anywhere, and what follows a slash there
// chooses subtests. The lab needs the Debian packages user-mode-linux, nfs-kernel-server,
// nfs-common, rpcbind, iproute2, busybox-static, e2fsprogs and dosfstools, on amd64; where
// they are missing it is skipped, unless CI=true.
//
// A guest keeps one processor busy for half of its time, and runs on as many as there are. It
// may run beside other labs that keep none busy: what it measures in time (handoff, in
// comparison with another time) and its leases of 4 s and more bear twice the load. When the
// guest stood still for a second, what comes of a mishap is looked at again.
//
// # How it works
//
// TestLab builds locksmith and this test for the guest, and lab.sh boots it.
// There guest/init starts the NFS server, makes the hosts and runs this test
// again, as TestGuest. A host is a set of namespaces (network, name, pids, IPC,
// mounts) with a link of its own to the server and a mount of its own at
// /mnt/nfs; the kernel keeps a client and caches for each. TestGuest runs beside
// the server, which has the truth at /mnt/export, and has commands in guest/bin:
//
//	onhost K COMMAND…            runs a command on host K
//	hostnet K up|down            a host's link
//	nfsd start|grace|stop|crash  the server
//	nfsmount K PATH DIR          one more mount
//	suspend SECONDS              suspends all hosts and the server
//
// They are there for a look around as well:
//
//	test/nfslab/lab.sh --vers 3 --bin ./locksmith -- sh -c '
//		onhost 1 locksmith run nfs:/mnt/nfs/L -- locksmith status nfs:/mnt/nfs/L
//		ls -lR /mnt/export'
//
// Contenders (race_test.go) are helpers on hosts that take a lock again and again, and package
// holds judges who had it when. Mishaps (mishaps_test.go) come to a victim on a host of its
// own, at a moment at which it is caught: its requests are held back, and it is stopped as soon
// as one is under way (crash_test.go). A cell of test/crash's page whose moment was missed is
// tried again; the last lines of a run are such cells.
//
// # What it cannot show
//
// All hosts have one kernel: one clock, so that none is an hour off, and one
// processor, so that two hosts never run at the same instant, though requests
// of theirs are under way together. Client and server are Linux 6.1; what other
// servers do differently is not seen. No host crashes as a whole. Starting a
// program takes ten times as long as elsewhere, and what matters for the figures
// is starting programs: compare them with others of the same run only.
package nfslab
