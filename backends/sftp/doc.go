//go:build unix

// Package sftp locks on an SFTP server: "sftp://user@host/dir/name". The path begins in the
// directory where the log in leads; "sftp://user@host//dir/name" begins at the server's
// root. Without a user, ssh_config(5) decides who that is.
//
// Purpose: locks for hosts that have nothing but an account on a server, together with those
// that mount the server's disk. What stands on the disk is that of nfs:, byte for byte, and
// so is the algorithm (package symlinks): both sides share one lock, its queue, tokens and
// records. With ?style=plain or ?style=dir it is that of mkdir: (package mkdirlock).
//
// An ssh of this system is the way there, as a child: who the server is, its keys, agents and
// hosts on the way are the user's own configuration. It asks nobody anything; a password that
// is known it gets from us, on a socket that only this user can open, if it asks for that of
// the address's user at the address's host: not where ssh_config(5) has another name for the
// host (HostName, HostKeyAlias). It has no descriptor of our parent's, is in a session of its
// own, and ends when we do.
//
// Promised: every call ends, within 10 s or less when the lease is short. When an answer is
// late, ssh is killed, and what was asked for is unclear: it may have been done, or may be
// done yet by a server that goes on. The algorithms look for their own names then, which are
// never used twice. Only what was not sent, or changes nothing, is asked again by itself. A
// server that does not let us in is left alone for a while (redial.Backoff). No reply,
// however wrong, does more than end the connection.
//
// The protocol is version 3 (draft-ietf-secsh-filexfer-02), which all servers speak. A code
// of it means too much: of "failure" it is looked at what is there before that is called
// "exists" or "not empty". Times are whole seconds: a heartbeat sets one that is later than
// the last, the first is read back, the lease is 4 s or more, and others are watched for
// as long at least.
//
// Measured with OpenSSH 9.2, asyncssh 2.10, ProFTPD 1.3.8 and pkg/sftp's server 1.13
// (test/sftplab). Caveats. A server that changes what symbolic links point to is refused when
// it is first used (ProFTPD); there is ?style=dir for it, which needs posix-rename@openssh.com.
// Where a symbolic link is removed as if it were a directory (pkg/sftp) locks are not removed.
// That server does not rename onto an empty directory either, so that the styles work there,
// but slowly where some share. Whoever may write in the lock's directory can break the lock, or
// lead us elsewhere with a symbolic link in place of what is in it, as far as the server's user
// may go. Waiting is asking: the first in the queue asks every 1.5 s at last.
package sftp
