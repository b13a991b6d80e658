// Package backend is the contract between the helper and the ways of locking.
//
// A Backend stands for one lock. To acquire it the helper makes an Attempt and
// alternates Try and Wait until Try returns a Hold; it then calls Heartbeat
// every quarter of the lease and Release once. Each step has three outcomes
// that are never confused: it happened, somebody else holds the lock
// (*HeldError) or the lock is gone (ErrGone), or it is not known (any other
// error). A backend knows nothing of parents, pipes or exit codes.
//
// The package also holds the grammar of addresses and the errors' form.
package backend
