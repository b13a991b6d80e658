//go:build linux

package nfslab

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/protocol"
	"locksmith/test/lab/holds"
)

// A race lets contenders on all hosts take a lock again and again, each time by a new helper, and
// writes down who had it when.
type race struct {
	lock       string
	tokens     bool
	shares     func(contender int) bool // nil: nobody
	contenders int
	rounds     int // of each contender; if there are kills, it goes on until they are done
	lease      time.Duration
	work, nap  time.Duration // at most: with the lock, and before asking for it again
	away       time.Duration // how long the server may be away when it is restarted
	// kills is how many holders and waiters are still to be killed with -9 at random moments: their
	// parents, their helpers or both. nil: nobody is killed.
	kills *atomic.Int64
	// over ends the race when it is closed.
	over <-chan struct{}

	start  time.Time
	clock  *guestClock
	mu     sync.Mutex
	held   []holds.Hold
	losses []string
	wants  map[string]time.Duration // by the guest's clock, as are last and stall
	last   time.Duration            // when somebody last got the lock, or stopped wanting it
	stall  time.Duration            // the longest time in which somebody wanted the lock, and nobody got it
}

func (r *race) now() time.Duration { return time.Since(r.start) }

// run runs the race to its end and judges it.
func (r *race) run(t *testing.T) {
	t.Helper()
	r.start, r.wants, r.clock = time.Now(), map[string]time.Duration{}, startClock(t)
	var wg sync.WaitGroup
	for i := range r.contenders {
		wg.Go(func() {
			for n := 0; r.goesOn(n); n++ {
				r.round(t, i, n)
			}
		})
	}
	wg.Wait()
	holds.Judge(t, r.held, r.tokens)
	t.Logf("%s: %d acquisitions in %.1f s, longest stall %v, called lost: %q",
		r.lock, len(r.held), r.now().Seconds(), r.stall.Round(time.Millisecond), r.losses)
	if r.stall > stuck+r.away || len(r.held) == 0 {
		t.Errorf("%s: stuck: nobody got it for %v", r.lock, r.stall)
	}
}

func (r *race) goesOn(rounds int) bool {
	select {
	case <-r.over:
		return false
	default:
	}
	return r.kills != nil && r.kills.Load() > 0 || r.kills == nil && rounds < r.rounds
}

// stuck is after how long a lock that somebody wants, and nobody gets, counts as stuck. It leaves
// time for several earlier contenders that died one after the other, each of whom costs a lease
// and more. It is shorter than the sleep of a waiter whom nobody wakes (30 s).
const stuck = 28 * time.Second

// soon is the longest time after which a contender that is to be killed is killed. If none of its
// processes has started by then, the time begins anew. It is about the time that it takes to have
// a lock once. Only every other contender, in the mean, is to be killed: to break a dead holder
// others must live for a lease.
const soon = 300 * time.Millisecond

// round takes the lock once.
func (r *race) round(t *testing.T, i, n int) {
	time.Sleep(rand.N(r.nap + 1))
	s := &scope{T: t}
	defer s.end()
	host := i%crowdHosts + 1
	// A server that is restarted on a busy machine may be away for longer than the usual 10 s.
	flags := []string{"--lease", r.lease.String(), "--release-timeout", "5m"}
	one := holds.Hold{Who: fmt.Sprintf("contender %d on host %d, round %d", i, host, n), Shared: r.shares != nil && r.shares(i)}
	if one.Shared {
		flags = append(flags, "--shared")
	}
	one.Wanted = r.now()
	r.mu.Lock()
	r.wants[one.Who] = r.clock.now()
	r.mu.Unlock()
	h := hold(s, host, r.lock, flags...)
	killed := false
	if r.kills != nil && rand.N(2) == 0 {
		var killer *time.Timer
		r.mu.Lock()
		killer = time.AfterFunc(rand.N(soon), func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			one.End = min(one.End, r.now())
			if !h.kill(whom(rand.N(3))) {
				killer.Reset(rand.N(soon)) // none of its processes has started yet
				return
			}
			killed = true
			r.kills.Add(-1)
			h.LetGo() // its parent's end of the pipe is closed
		})
		r.mu.Unlock()
		defer killer.Stop()
	}
	said, err := h.Next()
	r.mu.Lock()
	r.settled(one.Who)
	if err == nil && said.Word == protocol.WordOK && !killed {
		grant, _ := protocol.ParseGrant(said.Line) // a line that is no grant has no token
		one.Start, one.End, one.Token = r.now(), holds.Open, grant.Token
	}
	r.mu.Unlock()
	switch {
	case one.Start != 0:
		r.let(t, h, &one, &killed)
	case err == nil && said.Word != protocol.WordOK && protocol.Code(said.Value("code")) == protocol.Unreachable:
		// The guest was too slow for the lease.
	case !r.wasKilled(&killed):
		t.Errorf("%s: %q %q (%v)\n%s", one.Who, said.Word, said.Text, err, h.Stderr())
	}
	h.Rest() // no helper outlives its parent
}

func (r *race) wasKilled(killed *bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return *killed
}

// let works with the lock and lets it go.
func (r *race) let(t *testing.T, h *holder, one *holds.Hold, killed *bool) {
	time.Sleep(rand.N(r.work + 1))
	r.mu.Lock()
	one.End = min(one.End, r.now())
	r.mu.Unlock()
	h.LetGo()
	last, err := h.Next()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil && last.Word == protocol.WordLost: // that is for the others to judge
		r.losses = append(r.losses, one.Who+": "+last.Value("code"))
		return
	case !*killed && (err != nil || last.Word != protocol.WordReleased):
		t.Errorf("%s: %q (%v) instead of RELEASED\n%s", one.Who, last.Word, err, h.Stderr())
	case !*killed:
		one.Freed = r.now()
	}
	r.held = append(r.held, *one)
}

// settled is called when somebody has got the lock, or was killed.
func (r *race) settled(who string) {
	since := r.wants[who]
	for _, at := range r.wants {
		since = min(since, at)
	}
	now := r.clock.now()
	r.stall = max(r.stall, now-max(since, r.last))
	r.last = now
	delete(r.wants, who)
}

// A scope is a part of a test. At its end everything that the part has started is cleaned up.
type scope struct {
	*testing.T
	cleanups []func()
}

func (s *scope) Cleanup(f func()) { s.cleanups = append(s.cleanups, f) }

func (s *scope) end() {
	for i := len(s.cleanups) - 1; i >= 0; i-- {
		s.cleanups[i]()
	}
}

// A guestClock stands still while the guest does not run, or is far behind, because the machine
// has other things to do. Locks are not blamed for that time.
type guestClock struct {
	start time.Time
	lost  atomic.Int64
}

// startClock starts a clock that notices each time that a short sleep takes long.
func startClock(t *testing.T) *guestClock {
	c := &guestClock{start: time.Now()}
	go func() {
		for t.Context().Err() == nil {
			from := time.Now()
			time.Sleep(100 * time.Millisecond)
			if took := time.Since(from); took > 500*time.Millisecond {
				c.lost.Add(int64(took))
			}
		}
	}()
	return c
}

func (c *guestClock) now() time.Duration { return time.Since(c.start) - time.Duration(c.lost.Load()) }
