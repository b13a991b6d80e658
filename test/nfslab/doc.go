// Package nfslab tests nfs: locks on real NFS: several client hosts with caches
// of their own, and a server that can be cut off, stopped and crashed, in a guest
// (package guest).
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
// which takes a minute or two; -scenarios runs others anywhere, and what follows a slash there
// chooses subtests. Beside what a guest needs the lab needs the Debian packages
// nfs-kernel-server, nfs-common, rpcbind, dosfstools and openssh-sftp-server; where something is
// missing it is skipped, unless CI=true.
//
// It may run beside other labs that keep no processor busy: its leases of 4 s and more bear
// twice the load, and what it measures in time (handoff, waiters, increments) runs only if
// chosen. When the guest stood still for a second, what comes of a mishap is looked at again.
//
// # How it works
//
// TestLab boots guests. In them guest/serve starts the NFS server, and hosts mount what it
// exports at /mnt/nfs. TestGuest runs beside the server, which has the truth at /mnt/export,
// and has commands in guest/bin, beside those of each guest:
//
//	nfsd start|grace|stop|crash  the server
//	nfsmount K PATH DIR          one more mount
//
// They are there for a look around as well:
//
//	test/guest/lab.sh --set LAB_VERS=3 --set LAB_FS=tmpfs --bin ./locksmith test/nfslab/guest -- sh -c '
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
// Client and server are Linux 6.1. What no guest can show, package
// guest says. What matters for the figures is starting programs, which takes ten times as long
// as elsewhere: compare them with others of the same run only.
package nfslab
