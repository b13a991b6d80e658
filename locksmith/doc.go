// Package locksmith is the helper: it acquires one lock, tends it, and releases
// it when whoever it works for goes away.
//
// Promised: the lock is given up as soon as it is no longer wanted (a Guard
// says so: the parent's end of a pipe, its death, a signal, the end of a
// child); a loss is told as soon as it is known, at the latest when three
// quarters of a lease have gone by without a heartbeat that succeeded, and so
// before anybody who goes by the lease may take the lock.
//
// Not promised: that a helper that is stopped or starved of CPU notices in
// time. It checks the clock before anything else when it runs again, and a
// parent that wants to know sooner watches for BEAT lines.
//
// The package knows nothing of paths or servers; a backend does that part.
package locksmith
