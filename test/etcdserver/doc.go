// Package etcdserver starts etcd for tests, on loopback: one member, or several that are a cluster,
// of which each may be killed, stopped, or cut off from the others. They are
//
//	etcd-3.7.3  compiled from a module of its own below testdata
//	Debian      etcd 3.4.23 of Debian 12, if it is installed, which may revoke leases early
//
// What members say to each other goes through relays, which know by the headers of etcd's own
// requests who speaks to whom.
package etcdserver
