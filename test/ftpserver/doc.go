// Package ftpserver starts FTP servers for tests: the real ones, each as a
// process of its own, one in this process, and a proxy that injects faults into
// connections.
//
//	s := ftpserver.Start(t, "proftpd", ftpserver.Options{TLS: true})
//	… log in at s.Addr, work in s.Home, look at what came of it in s.Dir …
//	s.Restart()
//
//	p := ftpserver.StartProxy(t, s.Addr)
//	p.Fail(p.Conns(), ftpserver.Fault{Verb: "RNTO", Command: 1, At: ftpserver.Answered, Do: ftpserver.Cut})
//	… log in at p.Addr: the rename happens, and its reply is lost …
//
// # The servers
//
// Debian's packages conflict with each other, so they are not installed: the script fetch unpacks
// them side by side in the user's cache directory. This needs the network once, and Debian.
// Starting a server needs root, and the right to make namespaces: each server runs in a namespace
// of process ids, and ends with it, so that no session outlives Stop. Where one of these is
// missing the test skips; with CI=true it fails. "embedded" runs everywhere.
//
// All servers listen on 127.0.0.1 only, and none changes a file of the machine.
//
// # What they have in common
//
// A non-empty directory may be renamed onto an empty one but not onto another non-empty one; with
// NoOverwrite it may not be renamed onto an empty one either. The account's files belong to a
// user without a name on this machine; vsftpd's to daemon. With TLS every control and data
// connection must use it. vsftpd and ProFTPD then accept a data connection only if it resumes a
// session of its control connection.
package ftpserver
