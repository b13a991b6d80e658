//go:build unix

package ftplab

import (
	"context"
	"errors"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/mkdirlock"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/owner"
	"locksmith/test/backendtest"
	"locksmith/test/ftpserver"
)

// clocks: the clocks of two hosts are hours apart, and the server has a third time, in a zone of
// its own as always here. A waiter measures a lease with its own watch and nobody's clock; reap
// goes by the server's clock alone.
func clocks(t *testing.T, kind, style string) {
	p := start(t, kind, style, ftpserver.Options{})
	for _, c := range []struct {
		name               string
		holder, by, server time.Duration // ahead
	}{
		{"holder ahead", 30 * time.Hour, 0, -5 * time.Hour},
		{"holder behind", -30 * time.Hour, 0, 5 * time.Hour},
		{"waiter ahead", 0, 400 * 24 * time.Hour, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := p.in(t)
			p.apart(t, p.ahead(c.holder, c.server), p.ahead(c.by, c.server))
		})
	}
}

// ahead opens the lock on a host whose clock is wrong, at a server whose clock is.
func (p *place) ahead(host, server time.Duration) *mkdirlock.Lock {
	return wrong(p.open(), host, server)
}

func wrong(l *mkdirlock.Lock, host, server time.Duration) *mkdirlock.Lock {
	l.Today = func() time.Time { return time.Now().Add(host) }
	newDir := l.NewDir
	l.NewDir = func() dirs.Dir { return ahead{newDir().(dirs.StatDir), server} }
	return l
}

// ahead is a server whose clock is wrong.
type ahead struct {
	dirs.StatDir
	by time.Duration
}

func (d ahead) Entries(ctx context.Context, name string) ([]dirs.Entry, error) {
	entries, err := d.StatDir.Entries(ctx, name)
	for i := range entries {
		entries[i].Modified = entries[i].Modified.Add(d.by)
	}
	return entries, err
}

// apart lets holder take the lock and then be silent, while waiter waits for the lock.
func (p *place) apart(t *testing.T, holder, waiter *mkdirlock.Lock) {
	const lease = 3 * time.Second
	r := backendtest.Request()
	r.Owner.Lease = lease
	a, err := holder.Attempt(r)
	if err != nil {
		t.Fatal(err)
	}
	sent := clock.Boot{}.Now()
	h, err := a.Try(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := backendtest.Request() // where nobody's death can be proven
	waiter.Judge = func(owner.Record) owner.Verdict { return owner.Unknown }
	b, err := waiter.Attempt(elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	var held *backend.HeldError
	if _, err := b.Try(t.Context()); !errors.As(err, &held) {
		t.Fatal("the waiter's try does not say that the lock is held: ", err)
	}
	reaper := wrong(p.openAt(p.parts("")), 0, waiter.NewDir().(ahead).by)
	found, err := reaper.Reap(t.Context(), backend.Reaping{MaxAge: time.Second, Remove: true})
	if err != nil || len(found) == 0 {
		t.Errorf("reap found %v, %v, want something", found, err)
	}
	for _, f := range found {
		if f.Due || f.Removed || f.Age > time.Hour {
			t.Errorf("reap takes a live lock for old: %+v", f)
		}
	}
	next, err := backend.Acquire(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if took := (clock.Boot{}).Now() - sent; took < lease {
		t.Errorf("the lock was broken after %v, want at least %v", took, lease)
	}
	if err := h.Heartbeat(t.Context()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("heartbeat of the broken hold: %v", err)
	}
	if err := next.Release(t.Context()); err != nil {
		t.Error(err)
	}
	p.atRest()
}
