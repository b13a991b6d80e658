// Package ftplab tests ftp: and ftps: locks at real FTP servers on this machine's
// loopback, with the locksmith program and with the backend itself.
//
// # Running it
//
//	go test -v ./test/ftplab
//	go test -v ./test/ftplab -servers 'vsftpd|proftpd' -scenarios 'trouble'
//	go test -v ./test/ftplab -scenarios figures -long
//
// A scenario is in a file of its own; the table in scenarios_test.go
// says at which servers each runs. Package test/ftpserver starts the servers, and
// says what they need; where that is missing the tests skip, unless CI=true. With
// -long some scenarios leave nothing out that takes its time. Lines that begin
// with "figure:" are measurements.
//
// # How it works
//
// Every test has a server, and a directory of its own at it. What stands there is
// looked at on the disk, and made older there instead of waiting (aged): servers
// tell times to the minute. The servers' time zone is one that nobody else is in.
//
// Commands that run under a lock write down when they had it, by a clock that
// cannot be set (witness): history.check finds overlaps.
//
// # What it cannot show
//
// All is on one machine: one clock, no latency but what the proxy adds, and data
// connections that go past the proxy are never cut.
package ftplab
