// Package bench measures what a lock costs, side by side with rivals, and prints one table:
//
//	go test -v ./test/bench
//	go test -v -timeout 1h ./test/bench -rounds 3 -plot . -readme README.md
//	go test -v -timeout 1h ./test/bench -rounds 3 -run 'TestFigures/(spawn|memory)'
//
// The first takes a quick look at everything, whose figures mean little. The package builds
// locksmith and the programs with which it is compared, with the same flags, and starts an etcd
// and an FTP server of its own on loopback. Of a rival that is not installed the table says so;
// test/run installs all rivals. It needs Linux. Each figure is a test below TestFigures:
//
//   - spawn: the time to take a free lock, run true(1) and release the lock. The floor
//     is a Go program that takes no lock; the next one takes none either, but links the
//     libraries that locksmith is made of and catches the signals that it passes on.
//     Libraries start their interpreter for it.
//   - commands: 8 and 64 processes that all want one lock, each time for a command.
//     The command increments a counter; a hand-off is an increment by another of the
//     processes than the one before. The first half second does not count. Tools that
//     sleep are watched until there are ten hand-offs, for 20 s at most.
//   - loops: the same by processes that live on between two locks. A library's process loops
//     in its own language; locksmith's is a Go program that uses package client, which
//     starts a helper each time, or the backends without one.
//   - latency: the time from a release to the OK of the one process that waits, with
//     some time in between, so that all have gone to sleep.
//   - idle: what waiters of a held lock do: context switches, processor time, commands
//     to the FTP server. Where nothing wakes a waiter, each look at the lock is at least
//     one switch, so switches stand for operations of the file system. To count those
//     themselves, with strace, would slow all down.
//   - memory: the proportional set size of processes that hold a lock each.
//   - curve: 1 to 256 processes queue for a held lock, idle first, and then have it one
//     after the other: hand-offs a second, processor time of all for a hand-off, and
//     the time from one to the next. -plot draws it.
//   - queue: 10 to 1,500 processes come at once, each for a command that increments a
//     counter: hand-offs a second, and processor time of all for each, with all that they
//     start. Then as many queue for a held lock and have it one after the other: the time
//     from a release to the next OK, and how many places each was served before or after
//     its turn. -plot draws it; -sizes 10,50 makes it short.
//
// TestBesideFlock prints a second table, of flock: beside flock(1). Its figures are spawn, commands (of 8),
// idle, memory, and crowds: 600 and 1,500 processes that come at once.
//
// TestBesideEtcdctl prints a third, of etcd: beside "etcdctl lock" at the same member, which this package compiles. Beside
// spawn, commands, latency and memory it counts the requests that the member gets.
//
// TestPool prints a table of its own: what a lock costs a Go program that takes one for each
// request, with a process for each, with helpers that serve one after another, and by flock(2).
//
// TestGoals prints a short table: the goals for what a run costs.
//
// TestCounts compares no times. It counts system calls and page faults of ours, over those of the bare
// Go program in the same run, and fails if one has risen: each limit has its line, with its reason. It
// is the only test here that judges what something costs.
//
// Tools wait as they do by default, but without end (dotlockfile -r -1, proper-lockfile {
// retries: { forever: true } }). Those that sleep for seconds between two tries are killed when
// the time is over, and what they have done by then counts.
//
// Rivals take turns within a round, so that whatever else the machine does hits all of them, and
// the table shows medians and ratios of ours to theirs. A counter that ends short of its
// increments has lost an update. If the lock is ours, that fails the test, as does a lock that is
// left behind or a process that hangs. If a rival fails under contention, the table says so. A
// missed goal is only shown in the table.
//
// What is not measured: locks in directories on a network; the crash of a holder, and how soon
// others notice; whether anybody starves; more than one lock at a time under contention; a
// machine under load. Idle waiters are watched for less than a minute: after that the Go runtime
// looks after itself, which costs a few switches in each process.
package bench
