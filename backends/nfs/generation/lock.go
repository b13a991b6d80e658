//go:build unix

package generation

import (
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/process"
)

// A Lock is one lock directory. It is a backend.Backend but for Examine: what a place must
// be able to do is the place's.
type Lock struct {
	Dir     Dir
	Address string // for messages
	// NewID returns a name that was never used before: owner.NewID.
	NewID func() string
	// Judge looks for proof of death: owner.Record.Verdict, seen from here.
	Judge func(owner.Record) owner.Verdict
	// Keeper returns the process whose end would change the verdict, if it can be
	// seen from here: owner.Record.Lives.
	Keeper func(owner.Record) (process.Process, bool)
	// Today is the wall clock, for people and for places in the queue.
	Today func() time.Time
}

var _ backend.Locker = (*Lock)(nil)
