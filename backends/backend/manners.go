package backend

import "time"

// Manners are the times that are usual among those who use a kind of lock: what
// holds where the user says nothing.
type Manners struct {
	// Lease is how long a silent holder is believed.
	Lease time.Duration
	// Respite is how much longer a waiter waits, after the lease is over, before it
	// breaks the lock. Who is dead by proof is not given it.
	Respite time.Duration
	// Refresh is how long after a heartbeat the next one is due, at most; a quarter
	// of the lease may be less.
	Refresh time.Duration
}

// A Paced is a Backend with manners of its own. The others leave them to the
// caller: a heartbeat every quarter of the lease, and no respite.
type Paced interface {
	Manners() Manners
}
