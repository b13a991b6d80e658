package locksmith

import (
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// Forever is the timeout of a helper that waits until it is told to stop.
const Forever = time.Duration(-1)

// A Helper tends one lock. Its life has four states, each a function in
// waiting.go or tenure.go: waiting (acquire), holding (keep), releasing
// (release), lost.
type Helper struct {
	Address string // canonical; for people, if it is a set of locks
	Locks   []Lock // a set of locks in the order given; nil: it is one lock
	Locker  backend.Locker
	Request backend.Request
	Timeout time.Duration // for the lock to become free; 0: one try; Forever
	Tries   int           // how many at most; 0: no limit
	// Refresh is how long after a heartbeat the next one is due; 0: a quarter of the
	// lease, which is the most.
	Refresh time.Duration
	// ReleaseTimeout is how long a release that fails is tried, within the lease; 0: one try.
	ReleaseTimeout time.Duration
	Guard          Guard
	Log            hclog.Logger
}

// Run goes through a whole life and returns how long the lock was held. A nil
// error means that it was held and released. Otherwise it is a *LossError if
// the lock was held, *CancelledError, *TimeoutError, *backend.HeldError or
// another error of the backend if it was not; then nothing is left of the wish.
func (h *Helper) Run() (time.Duration, error) {
	start := h.Request.Clock.Now()
	hold, sent, err := h.acquire(start)
	if err != nil {
		return 0, err
	}
	t := &tenure{helper: h, hold: hold, lease: h.Request.Owner.Lease, every: h.refresh(), confirmed: sent}
	several, isSet := hold.(backend.MultiHold)
	if isSet {
		t.confirmed = several.Confirmed()
	}
	if err := t.renewIfLate(); err != nil {
		return 0, t.abandon(err)
	}
	acquired := h.Request.Clock.Now()
	grant := protocol.Grant{
		ID: hold.ID(), Token: hold.Token(), Mode: h.Request.Owner.Mode,
		Waited: acquired - start, Lease: t.lease, Lock: h.Address,
	}
	if isSet {
		grant.Tokens, grant.Lock = several.Tokens(), strings.Join(h.addresses(), "\n")
	}
	if err := h.Guard.Start(grant); err != nil {
		return 0, t.abandon(err)
	}
	h.Log.Debug("acquired", "lock", h.Address, "id", hold.ID())
	err = t.run()
	return h.Request.Clock.Now() - acquired, err
}

// refresh is how long after a heartbeat the next one is due.
func (h *Helper) refresh() time.Duration {
	most := h.Request.Owner.Lease / 4
	if h.Refresh <= 0 {
		return most
	}
	return min(h.Refresh, most)
}
