// Package locksmith is the helper: it acquires one lock, or several together, tends it, and
// releases it when its client does not want it any more.
//
// It promises three things. It gives up the lock as soon as the client no longer wants it. The
// client says so by closing its end of a pipe, by dying, by a signal, or by the end of a command.
// It tells a loss as soon as it knows of it, at the latest when three quarters of a lease have
// gone by since the last successful heartbeat. That is before anybody who goes by the lease may
// take the lock. And a client that holds the lock for longer than it may (owner.Record.MaxHold,
// by a clock that counts suspension) is told of a loss in the same way, and loses the lock soon
// after.
//
// It does not promise that a helper which is stopped or starved of CPU notices in time. When such
// a helper runs again, it checks the clock before anything else. If the lease is over by then,
// the lock is lost. One kind of hold is different: nobody takes the lock of a living helper
// (backend.KeptHold). There the next heartbeat tells whether the lock is still held. A parent that
// wants to know sooner watches for BEAT lines.
//
// Read the life of a helper in this order: helper.go, waiting.go, session.go (the lock is held),
// release.go. The package knows nothing of paths or servers; a backend does that part.
package locksmith

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/backend"
	"locksmith/backends/detached"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// Forever is the timeout of a helper that waits until it is told to stop.
const Forever = time.Duration(-1)

// A Helper tends one lock. Its life has four states, each a function: waiting (acquire),
// holding (keep), releasing (release), lost.
type Helper struct {
	Address string // canonical; if it is a set of locks, a text for people
	Locks   []Lock // a set of locks in the order given, or locks of which any one will do; nil: a single lock
	chosen  int    // which of several the helper holds, counted from 1; 0: there was no choice
	Locker  backend.Locker
	Request backend.Request
	Timeout time.Duration // how long to wait for the lock to become free; 0: one try; or Forever
	Tries   int           // how many tries at most; 0: no limit
	// Refresh is the time from one heartbeat to the next. 0 is a quarter of the lease, which is
	// also the most.
	Refresh time.Duration
	// ReleaseTimeout is how long a failing release is tried again, within the lease; 0: one try.
	ReleaseTimeout time.Duration
	Once           *Once // nil: what the lock guards may be done each time that the lock is held
	// Remember, if not nil, stores what was seen of other holders and waiters, for later tries of
	// other processes. It is called when the lock was refused, and may hang.
	Remember func()
	// KnownToken, if not nil, returns the greatest fencing token of a lock that is known of earlier
	// helpers of this user, and the file that says so; 0: none is known. If keep is true, it remembers
	// this token for later ones. It is called while the lock is held, and may hang.
	KnownToken func(address string, token uint64, keep bool) (before uint64, file string, err error)
	// Hopeless, if not nil, says why a wait for this holder would never end, or returns "". Only
	// a helper that would wait forever asks.
	Hopeless func(backend.Holder) string
	// Asks, if not nil, is asked after a refusal how to wait.
	Asks Asker
	// Brief says that this process becomes what it guards, so that it lacks no thread for long: if it
	// ended for that, the kernel would free its lock.
	Brief  bool
	Client Client
	Log    hclog.Logger
	// HasThreads says that an earlier helper of this process, of one lock or as many, has made
	// the threads that this one needs.
	HasThreads bool

	behind int32 // 1: something was left behind (LeftBehind); read and written by sync/atomic
}

// LeftBehind reports, after Run, that a call which hangs was left behind, and may go on, or that a
// lock or a trace of waiting was, which could not be removed.
func (h *Helper) LeftBehind() bool { return atomic.LoadInt32(&h.behind) != 0 }

func (h *Helper) leaveBehind() { atomic.StoreInt32(&h.behind, 1) }

// A Lock is one lock of a set.
type Lock struct {
	Address string // canonical
	Mode    string // "exclusive" or "shared"
}

// A Client is the side that wants the lock: a parent at the other end of a pipe (Pipe), or a
// command (package child). Its methods are called one at a time.
type Client interface {
	// Context ends when the lock is no longer wanted; its cause says why.
	Context() context.Context
	// Waiting tells who holds the lock. It may be called again and again.
	Waiting(*backend.HeldError)
	// Start tells that the lock is held. If it returns an error, the lock is released. While it takes
	// long, the lock is tended.
	Start(protocol.Grant) error
	// Beat tells that a heartbeat succeeded, which was sent this long ago.
	Beat(ago time.Duration)
	// Lost tells about a loss. It returns when what the lock protected has stopped, or when
	// waiting for that is of no more use. When ctx ends, there is no time left to wait: others
	// may have the lock.
	Lost(context.Context, *LossError)
}

// An Heir is a Client that may have the lock in common with its helper.
type Heir interface {
	// Inherit is called before Start. If the lock is one of a descriptor, lend returns copies of that
	// (backend.KeptHold), and else nothing.
	Inherit(lend func() ([]int, error))
}

// A Starter is a Client whose Start may take long.
type Starter interface {
	// CallOff is called while Start is under way, if the lock is lost. What has not begun must not
	// begin: then Start returns an error that wraps the loss. If it has begun, Start returns nil, and
	// Lost is called.
	CallOff(*LossError)
}

// Run goes through a whole life and returns how long the lock was held. A nil error means that
// the lock was held and released. If it was held and lost, the error is a *LossError. If it was
// never held, the error is a *CancelledError, *TimeoutError, *RecentError, *backend.HeldError or
// another error of the backend, and no trace of the attempt is left.
func (h *Helper) Run() (time.Duration, error) {
	if !h.HasThreads && !h.Brief {
		makeThreads(h.threads())
	}
	start := h.Request.Clock.Now()
	if h.Client.Context().Err() != nil { // without this check it could still take the lock, or not, by chance
		return 0, h.cancelled(nil)
	}
	s, err := h.take(start)
	if err != nil {
		return 0, err
	}
	hold := s.hold
	acquired := h.Request.Clock.Now()
	if most := h.Request.Owner.MaxHold; most > 0 {
		s.end = acquired + most
	}
	grant := protocol.Grant{
		ID: hold.ID(), Token: hold.Token(), Mode: h.Request.Owner.Mode,
		Waited: acquired - start, Lease: s.lease, Lock: h.Address, Index: h.chosen,
	}
	if grant.Tokens = setTokens(hold); grant.Tokens != nil {
		grant.Lock = strings.Join(h.addresses(), "\n")
	}
	if heir, ok := h.Client.(Heir); ok {
		heir.Inherit(func() ([]int, error) { return backend.Lend(hold) })
	}
	loss, err := s.start(grant)
	if err != nil {
		_, err = s.abandon(err)
		return 0, err
	}
	h.Log.Debug("acquired", "lock", h.Address, "id", hold.ID())
	if loss == nil {
		s.tellRestarts(grant)
	}
	err = s.run(loss)
	return h.Request.Clock.Now() - acquired, err
}

// take waits until it gets the lock with most of its lease left. A lock that comes too late is
// given back: we were stopped, or the lock's place was slow. That may not happen again, so take
// waits again, for as long as the timeout allows. If a late lock cannot be given back, take ends.
// Otherwise we would wait for ourselves, and while we live nobody else has proof that the lock is
// dead.
func (h *Helper) take(start time.Duration) (*session, error) {
	given := *h
	for late := 1; ; late++ {
		s, err := h.begin(start, late > 1)
		if err != nil {
			return nil, err
		}
		if err = s.renewIfLate(); err == nil {
			return s, nil
		}
		gone, err := s.abandon(err)
		left := given.timeLeft(start)
		switch {
		case h.Client.Context().Err() != nil:
			return nil, h.cancelled(nil)
		case !gone, late == backend.MaxLate, left == 0, h.Tries > 0, backend.CodeOf(err) != protocol.Unreachable:
			return nil, err
		}
		h.Log.Info("the lock came too late in its lease, waiting again", "lock", h.Address)
		h.Address, h.Locks, h.Request.Owner.Mode, h.Timeout = given.Address, given.Locks, given.Request.Owner.Mode, left
		h.chosen = 0
	}
}

// timeLeft is what is left of the timeout.
func (h *Helper) timeLeft(start time.Duration) time.Duration {
	if h.Timeout < 0 {
		return h.Timeout
	}
	return max(h.Timeout-(h.Request.Clock.Now()-start), 0)
}

// begin acquires the lock. answered says whether the lock's place has answered before. After an
// error the lock is not held.
func (h *Helper) begin(start time.Duration, answered bool) (*session, error) {
	hold, sent, err := h.acquire(start, answered)
	if err != nil {
		return nil, err
	}
	s := h.session(hold, sent)
	if several, ok := hold.(backend.SeveralHold); ok {
		s.confirmed = several.Confirmed()
		if several.Tokens() == nil {
			h.choose(several.Chosen())
		}
	}
	if err := s.checkOnce(); err != nil {
		return nil, err
	}
	return s, nil
}

// setTokens returns the fencing tokens of a set; nil: the hold is of one lock.
func setTokens(hold backend.Hold) []uint64 {
	if several, ok := hold.(backend.SeveralHold); ok {
		return several.Tokens()
	}
	return nil
}

// session is of a hold that was got by a request sent at confirmed.
func (h *Helper) session(hold backend.Hold, confirmed time.Duration) *session {
	calls := detached.Line{Clock: h.Request.Clock}
	return &session{helper: h, hold: hold, lease: h.Request.Owner.Lease, every: h.refresh(), confirmed: confirmed, end: backend.NoLimit,
		calls: calls, tending: calls}
}

// choose turns h into the helper of the one lock that it holds, when any of several would do.
func (h *Helper) choose(i int) {
	h.Address, h.Request.Owner.Mode = h.Locks[i].Address, h.Locks[i].Mode
	h.Locks, h.chosen = nil, i+1
}

// refresh is the time from one heartbeat to the next.
func (h *Helper) refresh() time.Duration {
	most := owner.BeatsEvery(h.Request.Owner.Lease)
	if h.Refresh <= 0 {
		return most
	}
	return min(h.Refresh, most)
}

// addresses are the addresses of a set's locks, in the order given.
func (h *Helper) addresses() []string {
	all := make([]string, len(h.Locks))
	for i, l := range h.Locks {
		all[i] = l.Address
	}
	return all
}

// modes are the modes of a set's locks. If all are the same, it is nil.
func (h *Helper) modes() []string {
	if !slices.ContainsFunc(h.Locks, func(l Lock) bool { return l.Mode != h.Locks[0].Mode }) {
		return nil
	}
	all := make([]string, len(h.Locks))
	for i, l := range h.Locks {
		all[i] = l.Mode
	}
	return all
}
