// Package ftp locks on an FTP server: "ftp://user@host/dir/name", or "ftps://user@host/dir/name"
// with TLS. The path begins in the directory where the log in leads; "ftp://user@host//dir/name"
// begins at the server's root.
//
// Purpose: locks between hosts that share nothing but an account on an FTP server. The algorithm,
// and what it leaves on the server, belong to package mkdirlock. This package makes the few calls
// that it needs: MKD, RMD, RNFR with RNTO, and NLST. "ftps:" is FTP with TLS, for listings too: explicit
// (AUTH TLS, RFC 4217), or implicit, which begins before the greeting, with "?tls=implicit" or on
// port 990. It never goes on in the clear.
//
// Promised: every call ends, and at once when its context does, whatever the server sends or does
// not send. A command waits at most 10 seconds for its reply; logging in, and the lines of a
// listing, may take 30. A call says what came of it: done, refused, not done, or unclear if the
// answer was lost. It is repeated by itself only if it is certain that the first changed nothing,
// such as when the server has closed an idle connection, and only once. Data connections go to
// the host of the control connection, whatever address the server names. Nothing that we send can
// contain a second command. No error tells the password, though the server may. If the address
// names no user, the log in is anonymous.
//
// If a server does not let us in, we leave it alone for a while. After a failure the next
// connection waits up to a second, and longer from time to time, up to 10. A log in that was
// refused is not repeated for half a minute, and longer from time to time, up to 10 minutes.
// Until then calls fail with the same error. If no password is known, none is sent.
//
// A connection is made when it is needed. A small listing every two minutes keeps it open, and
// more often if the server closes it nevertheless. Measured with vsftpd 3.0, ProFTPD 1.3,
// Pure-FTPd 1.0, pyftpdlib 1.5, inetutils 2.4 and ftpserverlib.
//
// Caveats. With "ftp:" everybody on the way reads the password, and may answer in the server's
// place. If a listing is cut off between two lines and the server says that all is well, it looks
// like a shorter listing; TLS notices. Some servers want data connections to resume the TLS
// session, as vsftpd and ProFTPD do. Such a server must offer TLS 1.3, or tickets with TLS 1.2
// (ProFTPD: TLSSessionTickets on), because Go knows no other way. Times of entries are the
// server's; without MLSD they are those of LIST, to the minute. Servers must list names as they
// are: so names may not begin with a dot, nor contain what some servers take for a pattern or an
// option.
package ftp
