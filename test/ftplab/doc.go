// Package ftplab tests ftp: and ftps: locks at real FTP servers on this machine's
// loopback, with the locksmith program and with the backend itself.
//
// # Running it
//
//	go test -v ./test/ftplab
//	go test -v ./test/ftplab -servers 'vsftpd|proftpd' -scenarios 'trouble'
//	go test -v ./test/ftplab -long
//
// A scenario runs in cells, each a server and a style of lock; the table in lab_test.go says in
// which. Without -long it runs in a few: every scenario somewhere, every server and both styles
// with most of them, and all cells where servers differ most. What happens to a lock at a server
// without peculiarities is tested elsewhere, at the embedded server: in backends/ftp,
// test/history (contenders that are killed) and test/crash (servers and ways to them that fail);
// here it is tested with -long only.
//
// Package test/ftpserver starts the servers, and says what they need; where that is missing
// the tests skip, unless CI=true. Lines that begin with "figure:" are measurements.
//
// # How it works
//
// Every test has a server of its own, or a directory of its own at one. Tests look at its files
// on the disk, and make them older there instead of waiting (aged), because servers tell times to
// the minute. The servers are in a time zone that nobody else is in.
//
// Tests wait for events: a line of a helper, an event that it records, a command that the
// proxy sees. Leases are long enough for a machine that pauses for some seconds.
//
// Commands that run under a lock write down when they had it, by a clock that cannot be set;
// package contest judges these records.
//
// # What it cannot show
//
// All is on one machine: one clock, no latency but what the proxy adds, and data
// connections that go past the proxy are never cut.
package ftplab
