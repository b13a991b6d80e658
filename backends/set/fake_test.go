package set

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
)

// A fake is an exclusive lock in memory, whose waiters are woken by its release.
type fake struct {
	name string

	mu      sync.Mutex
	held    *fakeHold
	freed   chan struct{} // closed at the next release
	waiters int           // attempts that were refused and not withdrawn
	beats   int

	// fail, if not nil, is called before each operation.
	fail func(op string) error
}

var lastID atomic.Int64

func newFake(name string) *fake { return &fake{name: name, freed: make(chan struct{})} }

func (f *fake) Attempt(backend.Request) (backend.Attempt, error) { return &fakeAttempt{lock: f}, nil }

func (f *fake) before(op string) error {
	if f.fail == nil {
		return nil
	}
	return f.fail(op)
}

// holder is the id of the holder; empty if the lock is free.
func (f *fake) holder() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held == nil {
		return ""
	}
	return f.held.id
}

// remove takes the lock away from its holder, as an operator does.
func (f *fake) remove() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held = nil
	close(f.freed)
	f.freed = make(chan struct{})
}

type fakeAttempt struct {
	lock    *fake
	refused bool
}

func (a *fakeAttempt) Try(context.Context) (backend.Hold, error) {
	if err := a.lock.before("try"); err != nil {
		return nil, err
	}
	f := a.lock
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held != nil {
		if !a.refused {
			a.refused = true
			f.waiters++
		}
		return nil, &backend.HeldError{Lock: f.name, Holder: backend.Holder{ID: f.held.id}}
	}
	if a.refused {
		f.waiters--
	}
	f.held = &fakeHold{lock: f, id: fmt.Sprint("id", lastID.Add(1))}
	return f.held, nil
}

func (a *fakeAttempt) Wait(ctx context.Context) error {
	a.lock.mu.Lock()
	freed, free := a.lock.freed, a.lock.held == nil
	a.lock.mu.Unlock()
	if free {
		return nil
	}
	select {
	case <-freed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *fakeAttempt) Withdraw(context.Context) error {
	if err := a.lock.before("withdraw"); err != nil {
		return err
	}
	if a.refused {
		a.lock.mu.Lock()
		defer a.lock.mu.Unlock()
		a.lock.waiters--
		a.refused = false
	}
	return nil
}

type fakeHold struct {
	lock *fake
	id   string
}

func (h *fakeHold) ID() string    { return h.id }
func (h *fakeHold) Token() uint64 { return 0 }

func (h *fakeHold) Tend(context.Context) error { return nil }

// Every lock has a note. A set may ask only for that of the lock that is gone.
func (h *fakeHold) Note(context.Context) (*owner.Note, error) {
	return &owner.Note{ID: h.id, Host: h.lock.name}, nil
}

func (h *fakeHold) Heartbeat(context.Context) error {
	if err := h.lock.before("heartbeat"); err != nil {
		return err
	}
	h.lock.mu.Lock()
	defer h.lock.mu.Unlock()
	h.lock.beats++
	if h.lock.held != h {
		return fmt.Errorf("%s: %w", h.lock.name, backend.ErrGone)
	}
	return nil
}

func (h *fakeHold) Release(context.Context) error {
	if err := h.lock.before("release"); err != nil {
		return err
	}
	h.lock.mu.Lock()
	defer h.lock.mu.Unlock()
	if h.lock.held != h {
		return fmt.Errorf("%s: %w", h.lock.name, backend.ErrGone)
	}
	h.lock.held = nil
	close(h.lock.freed)
	h.lock.freed = make(chan struct{})
	return nil
}

const lease = time.Minute

func request() backend.Request {
	return backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: lease}, Clock: clock.Runtime{}}
}

// lock makes a set's lock of a fake. Its key is its name.
func (f *fake) lock() Lock { return f.as(f.name) }

// as is lock with another key.
func (f *fake) as(key string) Lock {
	return Lock{Address: "fake:/" + f.name, Locker: f, Key: func() string { return key },
		Ask: func(r backend.Request) backend.Request { return r }}
}

func fakes(names ...string) []*fake {
	var all []*fake
	for _, n := range names {
		all = append(all, newFake(n))
	}
	return all
}

// wish begins an attempt at a set of locks.
func wish(t testing.TB, locks ...Lock) *attempt {
	t.Helper()
	s, err := New(locks)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Attempt(request())
	if err != nil {
		t.Fatal(err)
	}
	return a.(*attempt)
}

func mustTake(t testing.TB, a backend.Attempt) backend.Hold {
	t.Helper()
	h, err := a.Try(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// alone takes the fake for somebody else.
func (f *fake) alone(t testing.TB) backend.Hold {
	t.Helper()
	a, _ := f.Attempt(request())
	return mustTake(t, a)
}
