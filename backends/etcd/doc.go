// Package etcd locks with etcd: "etcd://host,host2,host3/prefix".
//
// Purpose: sites that have outgrown one server. There is no algorithm of ours: the cluster decides, by
// its leases, by the order of its revisions, and by its transactions. The keys of a lock are
//
//	PREFIX/x.<id>           wants the lock alone, or has it: the record, under a lease of its maker
//	PREFIX/s.<id>           the same, to share it
//	PREFIX/locksmith.token  the newest token; it stays
//	PREFIX/locksmith.shelf  the last success, and notes of breaks; it stays
//
// A key "x." has the lock when no other key was made before it, and a key "s." when no key "x." was. What
// was made before a key never comes back, because revisions only rise. So one look settles that we
// have the lock, and we have it for as long as our key is there. A waiter sleeps in a watch on the last
// key that is in its way.
//
// The fencing token is the create revision of the key of who has the lock alone. All who share it have
// that of the first of them who wrote it to locksmith.token. A transaction writes the token there before
// Try returns, and only while our key is there: so it never changes while somebody shares the lock. That of
// sharers is greater than all before, as the key of each came later, and less than that of who waits.
//
// A heartbeat renews the lease, and then reads our key. A member that has lost the others may answer the
// first by itself, but not the second: all reads are linearizable.
//
// Promised, if the cluster revokes no lease early: one holder; a token that rises, also after the lock
// was removed; a queue in strict order. Dead holders are removed at once by waiters on their host, and
// else by the cluster after their lease.
//
// Caveats. The cluster ends the lease of who is silent, whatever --strict and --respite ask. It counts
// whole seconds, has a shortest lease (2 s, mostly), and a new leader begins all leases anew. Versions
// before 3.4.31 and 3.5.13 may revoke leases early; doctor names them. If it is set back to a snapshot
// without --bump-revision, tokens are given again. It has no clock: the age of a success is by those of
// the hosts. Keys of "etcdctl lock" below the prefix do not exclude us. Whoever may write there can
// break any lock.
package etcd
