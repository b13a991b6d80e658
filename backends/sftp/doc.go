// Package sftp locks on an SFTP server: "sftp://user@host/dir/name". The path begins in the
// directory where the log in leads; "sftp://user@host//dir/name" begins at the server's root.
// Without a user, ssh_config(5) decides who that is.
//
// Purpose: locks for hosts that have only an account on a server, together with those that mount
// the server's disk. On the disk is what nfs: makes, byte for byte, and the algorithm is the
// same (package symlinks). Both sides share one lock, its queue, tokens and records. With
// ?style=plain or ?style=dir the lock is that of mkdir: (package mkdirlock).
//
// An ssh of this system is the way there, as a child. The user's own configuration says who the
// server is, and has the keys, agents and hosts on the way. ssh asks nobody anything. It gets a
// known password from us, on a socket that only this user can open, if it asks for that of the
// address's user at the address's host. It does not where ssh_config(5) has another name for the
// host (HostName, HostKeyAlias). The ssh has no descriptor of our parent's, is in a session of
// its own, and ends when we do.
//
// Promised: every call ends, within 10 s or less if the lease is short. When an answer is late,
// ssh is killed, and the request is unclear: the server may have executed it, or may do so yet.
// Then the algorithms look for their own names, which are never used twice. Only a request that
// was not sent, or that changes nothing, is repeated by itself. A server that does not let us in
// is left alone for a while (servers.Backoff). No reply, however wrong, does more than end the
// connection.
//
// The protocol is version 3 (draft-ietf-secsh-filexfer-02), which all servers speak. Its codes
// mean too much: after "failure" the call looks what is there before it says "exists" or "not
// empty". Times are whole seconds. So a heartbeat sets one that is later than the last, the
// first is read back, the lease is 4 s or more, and others are watched for at least as long.
//
// The server's disk may itself be a mount, of NFS, on which other hosts lock, too. Such a mount
// shows for half a minute what another host's directory was like. So a look at a reservation opens
// it first, in the same round trip. Servers execute both in their order.
//
// Measured with OpenSSH 9.2, asyncssh 2.10, ProFTPD 1.3.8 and pkg/sftp's server 1.13
// (test/sftplab). Caveats. A server that changes what symbolic links point to (ProFTPD) is
// refused when it is first used. There is ?style=dir for it, which needs
// posix-rename@openssh.com. If a server removes a symbolic link as if it were a directory
// (pkg/sftp), locks are not removed. That server does not rename onto an empty directory either,
// so the styles work there, but slowly where some share. Whoever may write in the lock's
// directory can break the lock. They can also lead us elsewhere with a symbolic link in place of
// what is in it, as far as the server's user may go. Waiting is asking: the first in the queue
// asks every 1.5 s at last.
package sftp

// Scheme is the address scheme of this backend, and Port its usual port. They are known on every
// system.
const (
	Scheme = "sftp"
	Port   = "22"
)
