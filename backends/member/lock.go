// Package member is what taking several locks (package set) and taking any of several (package
// choice) have in common: one lock of several, whose calls may hang without holding up the others.
// It is waited for without a thread of its own (backend.Request.Several). So many locks need few
// threads, and two or three descriptors each.
package member

import (
	"fmt"
	"sync"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// Max is how many locks one process may take, or choose from.
const Max = 1024

// A Lock is one of several locks.
type Lock struct {
	Address string // canonical
	Locker  backend.Locker
	// Key returns a text that is the same for all spellings of the address. It may look at the
	// lock's place, and so take long.
	Key func() string
	// OneName says that the lock is of a descriptor, so that a set may have no second name for it.
	OneName bool
	// Ask turns the request for several locks into the one for this lock.
	Ask func(backend.Request) backend.Request
}

// Check refuses too many locks. Its error is a *backend.Error.
func Check(locks []Lock) error {
	if len(locks) <= Max {
		return nil
	}
	return &backend.Error{Code: protocol.Usage, Lock: locks[0].Address, Op: "make a set",
		Err:  fmt.Errorf("%d locks are more than the %d a set may have", len(locks), Max),
		Hint: "let one lock stand for several"}
}

// Each makes a call for each element, backend.Parallel at a time, and returns the errors in the same
// order.
func Each[T any](all []T, call func(T) error) []error {
	errs := make([]error, len(all))
	places := make(chan struct{}, backend.Parallel)
	var calls sync.WaitGroup
	for i, one := range all {
		places <- struct{}{}
		calls.Go(func() {
			errs[i] = call(one)
			<-places
		})
	}
	calls.Wait()
	return errs
}
