package backendtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"locksmith/backends/backend"
)

// A Trouble is what may happen at a lock's place, or on the way there. The guide has the table
// (cmd/locksmith/guide/reference.md, "Servers that do not answer").
type Trouble string

// The troubles that may pass.
const (
	Refused    Trouble = "the connection is refused"
	Reset      Trouble = "the connection is reset"
	Silent     Trouble = "no answer"
	NoRoute    Trouble = "the host cannot be reached"
	NameServer Trouble = "the name server is away"
	Busy       Trouble = "the server is busy"
	Throttled  Trouble = "the server takes no more requests for now"
	Failing    Trouble = "the server has a fault"
	Foreign    Trouble = "something else answers"
)

// The troubles that last until somebody corrects something.
const (
	NoSuchHost Trouble = "no such host"
	Forbidden  Trouble = "not allowed, or no log in"
	Untrusted  Trouble = "a key or certificate that is not trusted"
	Wrong      Trouble = "the address is wrong"
)

// passes tells of every trouble whether it may pass.
func passes() map[Trouble]bool {
	return map[Trouble]bool{
		Refused: true, Reset: true, Silent: true, NoRoute: true, NameServer: true, Busy: true, Throttled: true, Failing: true, Foreign: true,
		NoSuchHost: false, Forbidden: false, Untrusted: false, Wrong: false,
	}
}

// Patience goes through the table of troubles for a kind of lock. A try that meets a trouble says
// whether it may pass, again and again; if it may, nothing is known about the lock. provoke opens
// a lock whose next tries meet a trouble. A trouble that is not in provoke cannot happen there.
func Patience(t *testing.T, provoke map[Trouble]func(*testing.T) backend.Backend) {
	for trouble := range provoke {
		if _, known := passes()[trouble]; !known {
			t.Errorf("%q is not in the table", trouble)
		}
	}
	for trouble, may := range passes() {
		open := provoke[trouble]
		if open == nil {
			continue
		}
		t.Run(string(trouble), func(t *testing.T) {
			t.Parallel()
			r := Request()
			r.Timeout = backend.NoLimit
			r.Owner.Lease = 6 * time.Second // some kinds wait a part of the lease for an answer
			a, err := open(t).Attempt(r)
			MustWork(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for range 2 {
				_, err := a.Try(ctx)
				if err == nil || ctx.Err() != nil || backend.Passes(err) != may {
					t.Errorf("Try returns %v, and backend.Passes says of it: %v; want an error of which it says %v", err, backend.Passes(err), may)
				}
				if held := (*backend.HeldError)(nil); errors.As(err, &held) && held.Answered() {
					t.Errorf("the place did not answer, and Try says that the lock is held: %v", err)
				}
			}
			_ = a.Withdraw(ctx) // nobody answers there
		})
	}
}
