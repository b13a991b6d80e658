// Package ftp locks on an FTP server: "ftp://user@host/dir/name", or
// "ftps://user@host/dir/name" with TLS. The path begins in the directory where the log
// in leads; "ftp://user@host//dir/name" begins at the server's root.
//
// Purpose: locks between hosts that share nothing but an account on an FTP
// server. The algorithm, and what stands on the server, is package mkdirlock's;
// this one makes its few calls: MKD, RMD, RNFR with RNTO, and NLST. "ftps:" is
// FTP with explicit TLS (AUTH TLS, RFC 4217), for listings too. It never goes on
// in the clear.
//
// Promised: every call ends, and at once when its context does, whatever the server
// sends or does not send: a command waits 10 seconds for its reply at the latest, 30
// while logging in and for the lines of a listing. A call says what came of it:
// done, refused, not done, or unclear if the answer was lost. It is repeated by
// itself, once, only if it is certain that the first changed nothing, such as when
// the server has closed an idle connection. Data connections go to the host of the control
// connection, whatever address the server names. Nothing that is sent can hold a
// second command. No error tells the password, though the server may. Without a
// user the log in is anonymous.
//
// A server that does not let us in is left alone for a while: after a failure the next
// connection waits for up to a second, and longer from time to time, up to 10. A log in
// that was refused is not repeated for half a minute, and longer from time to time,
// up to 10 minutes; till then calls fail with the same error. Where no password is
// known, none is sent.
//
// A connection is made when it is needed, and kept by a small listing every
// two minutes; if the server closes it nevertheless, sooner. Measured with vsftpd 3.0,
// ProFTPD 1.3, Pure-FTPd 1.0, pyftpdlib 1.5, inetutils 2.4 and ftpserverlib.
//
// Caveats. With "ftp:" everybody on the way reads the password, and may answer in
// the server's place. A listing that is cut off between two lines looks like a
// shorter one if the server says that all is well; TLS notices. A server that
// wants data connections to resume the TLS session, as vsftpd and ProFTPD do,
// must offer TLS 1.3, or tickets with TLS 1.2 (ProFTPD: TLSSessionTickets on),
// since Go knows no other way. Times of entries are the server's; without MLSD
// they are those of LIST, to the minute. Names must be as servers list them: not
// beginning with a dot, and free of what some take for a pattern or an option.
package ftp
