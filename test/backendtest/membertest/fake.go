// Package membertest has locks in memory, for the tests of what takes several locks.
package membertest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/member"
	"locksmith/backends/owner"
	"locksmith/backends/shelf"
)

// A Fake is an exclusive lock in memory, whose waiters are woken by its release.
type Fake struct {
	Name string

	// Fail, if not nil, is called before each operation.
	Fail    func(op string) error
	Waiters int // attempts that were refused and not withdrawn
	Beats   int // heartbeats

	mu    sync.Mutex
	held  *hold
	freed chan struct{} // closed at the next release
}

var lastID atomic.Int64

// New returns a lock of this name, which is free.
func New(name string) *Fake { return &Fake{Name: name, freed: make(chan struct{})} }

// Attempt implements backend.Locker.
func (f *Fake) Attempt(backend.Request) (backend.Attempt, error) { return &attempt{lock: f}, nil }

// OnShelf implements shelf.Keeper. Every hold has a note. A set may ask only for that of the lock that
// is gone.
func (f *Fake) OnShelf(_ context.Context, held backend.Hold, use func(shelf.Shelf) error) error {
	text, err := owner.Note{ID: held.ID(), Host: f.Name}.Format()
	if err != nil {
		return err
	}
	return use(noted{text: text})
}

type noted struct {
	shelf.Shelf
	text string
}

// Read implements shelf.Shelf.
func (n noted) Read(_ context.Context, _ string, s *shelf.Slip) error {
	s.Text = n.text
	return nil
}

func (f *Fake) before(op string) error {
	if f.Fail == nil {
		return nil
	}
	return f.Fail(op)
}

// Holder returns the id of the holder, or nothing if the lock is free.
func (f *Fake) Holder() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held == nil {
		return ""
	}
	return f.held.id
}

// Remove takes the lock away from its holder, as an operator does.
func (f *Fake) Remove() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held = nil
	close(f.freed)
	f.freed = make(chan struct{})
}

type attempt struct {
	lock    *Fake
	refused bool
}

func (a *attempt) Try(context.Context) (backend.Hold, error) {
	if err := a.lock.before("try"); err != nil {
		return nil, err
	}
	f := a.lock
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held != nil {
		if !a.refused {
			a.refused = true
			f.Waiters++
		}
		return nil, &backend.HeldError{Lock: f.Name, Holder: backend.Holder{ID: f.held.id}}
	}
	if a.refused {
		f.Waiters--
	}
	f.held = &hold{lock: f, id: fmt.Sprint("id", lastID.Add(1))}
	return f.held, nil
}

func (a *attempt) Wait(ctx context.Context) error {
	if err := a.lock.before("wait"); err != nil {
		return err
	}
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

func (a *attempt) Withdraw(context.Context) error {
	if err := a.lock.before("withdraw"); err != nil {
		return err
	}
	if a.refused {
		a.lock.mu.Lock()
		defer a.lock.mu.Unlock()
		a.lock.Waiters--
		a.refused = false
	}
	return nil
}

type hold struct {
	lock *Fake
	id   string
}

func (h *hold) ID() string    { return h.id }
func (h *hold) Token() uint64 { return 0 }

func (h *hold) Tend(context.Context) error { return nil }

func (h *hold) Heartbeat(context.Context) error {
	if err := h.lock.before("heartbeat"); err != nil {
		return err
	}
	h.lock.mu.Lock()
	defer h.lock.mu.Unlock()
	h.lock.Beats++
	if h.lock.held != h {
		return fmt.Errorf("%s: %w", h.lock.Name, backend.ErrGone)
	}
	return nil
}

func (h *hold) Release(context.Context) error {
	if err := h.lock.before("release"); err != nil {
		return err
	}
	h.lock.mu.Lock()
	defer h.lock.mu.Unlock()
	if h.lock.held != h {
		return fmt.Errorf("%s: %w", h.lock.Name, backend.ErrGone)
	}
	h.lock.held = nil
	close(h.lock.freed)
	h.lock.freed = make(chan struct{})
	return nil
}

// HangAt returns a Fail that hangs in each operation of this name until answer is closed.
func HangAt(op string, answer <-chan struct{}) func(string) error {
	return func(now string) error {
		if now == op {
			<-answer
		}
		return nil
	}
}

// Lease is the lease of Request's requests.
const Lease = time.Minute

// Request returns a request for an exclusive lock.
func Request() backend.Request {
	return backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: Lease}, Clock: clock.Runtime{}}
}

// Lock returns the Fake as one of several locks. Its key is its name.
func (f *Fake) Lock() member.Lock { return f.As(f.Name) }

// As is Lock with another key.
func (f *Fake) As(key string) member.Lock {
	return member.Lock{Address: "fake:/" + f.Name, Locker: f, Key: func() string { return key },
		Ask: func(r backend.Request) backend.Request { return r }}
}

// Several returns a lock for each name.
func Several(names ...string) []*Fake {
	var all []*Fake
	for _, n := range names {
		all = append(all, New(n))
	}
	return all
}

// MustTake takes a lock that is free.
func MustTake(t testing.TB, a backend.Attempt) backend.Hold {
	t.Helper()
	h, err := a.Try(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Alone takes the Fake for somebody else.
func (f *Fake) Alone(t testing.TB) backend.Hold {
	t.Helper()
	a, _ := f.Attempt(Request())
	return MustTake(t, a)
}

// MustBeFree fails if somebody holds one of the locks or waits for it.
func MustBeFree(t *testing.T, locks ...*Fake) {
	t.Helper()
	for _, f := range locks {
		if f.Holder() != "" || f.Waiters != 0 {
			t.Errorf("%s: held by %q, %d waiting", f.Name, f.Holder(), f.Waiters)
		}
	}
}
