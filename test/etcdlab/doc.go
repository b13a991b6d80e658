// Package etcdlab tests etcd: locks at real clusters of etcd on this machine's loopback, with the
// programs.
//
// # Running it
//
//	go test -v ./test/etcdlab
//	go test -v ./test/etcdlab -run TestFire -long -timeout 2h
//	go test -v ./test/etcdlab -run TestFire -holds 100
//
// In TestFire contenders take one lock at three members, each from its address of all three; a third of
// them would share it. Some contenders are killed with -9, and some are stopped with what they guard, for longer than their lease,
// and continued. Meanwhile the leader is killed, a follower, and two members at once; each is stopped,
// and cut off from the others by the relays of package etcdserver, while clients still reach it; and a
// member's disk is full. Package contest judges what the contenders wrote down under the lock. Two
// that have the lock are a fault, and so are tokens that do not rise, somebody who waits for ever, a
// stopped holder that is not told of its loss, and a key that stays.
//
// A loss with the code gone that no test caused is one that the cluster caused by revoking a lease early.
// It is counted, and shown with the pauses of this machine. Beside it, on another prefix of the same
// cluster, contenders with "etcdctl lock" come to the same harm, and what becomes of them is
// shown, and not judged.
//
// TestCuts and TestKilledAtAnyRequest cut the connection of a helper, or kill it, at each of its
// requests: before it arrives, and when it was executed and its answer has not arrived.
//
// # What it cannot show
//
// All is on one machine: one clock, no latency, and one disk but for the full one. A machine that is
// lent to others stands still now and then, and then leases end early by everybody's clock but its
// own.
package etcdlab
