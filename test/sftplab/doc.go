// Package sftplab tests sftp: locks at real SFTP servers on this machine's loopback, with the
// locksmith program.
//
// # Running it
//
//	go test -v ./test/sftplab
//	go test -v ./test/sftplab -run TestDoctor/ProFTPD
//	go test -v ./test/sftplab -long
//
// Without -long each server is tested for what differs between servers, and OpenSSH's alone for
// what does not. Package test/sftpserver starts the servers, and says what they need; where that
// is missing the tests skip, unless CI=true. Lines that begin with "figure:" are measurements.
// The conformance suite for backends joins the servers in backends/sftp.
//
// # How it works
//
// Tests look at a server's files on the disk. Tests wait for events: a line of a helper, an event
// that it records. Leases are long enough for a machine that pauses for some seconds. Package
// test/lab/contest lets helpers contend for a lock, and judges them. The test binary itself cuts
// a connection: it is the command of $LOCKSMITH_SSH, and counts packets.
//
// # What it cannot show
//
// All is on one machine: one clock, and no latency.
package sftplab
