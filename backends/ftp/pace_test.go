//go:build unix

package ftp

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/process"
	"locksmith/test/backendtest"
	"locksmith/test/ftpserver"
)

// A hurried Dir does not wait. It advances its clock instead, and notes by how much.
type hurried struct {
	*Dir
	clock  *manual
	pauses *[]time.Duration
}

// Await implements dirs.Dir.
func (h hurried) Await(_ context.Context, _ string, _ process.Process, d time.Duration) {
	*h.pauses = append(*h.pauses, d)
	h.clock.pass(d)
}

// TestPace: a waiter asks with one command every three to four seconds, from the first time to
// the last. So it notices a release within four seconds, and does not hurry at first.
func TestPace(t *testing.T) {
	t.Parallel()
	s := ftpserver.Start(t, "embedded", ftpserver.Options{})
	proxy := ftpserver.StartProxy(t, s.Addr)
	dir, err := os.MkdirTemp(s.Dir, "")
	if err != nil {
		t.Fatal(err)
	}
	at := path.Join(s.Home, filepath.Base(dir), "lock")
	open := func(addr string) *mkdirlock.Lock {
		b, err := Open(backend.Address{Scheme: SchemePlain, User: s.User, Host: addr, Path: at},
			backend.Access{Password: func(string, string) (string, string, error) { return s.Password, "", nil }})
		if err != nil {
			t.Fatal(err)
		}
		return lockOf(b)
	}
	holder, err := open(s.Addr).Attempt(backendtest.Request())
	backendtest.MustWork(t, err)
	h := backendtest.MustHold(t, holder)
	var pauses []time.Duration
	m := &manual{}
	l := open(proxy.Addr)
	newDir := l.NewDir
	l.NewDir = func() dirs.Dir { return hurried{newDir().(*Dir), m, &pauses} }
	r := backendtest.Request()
	r.Clock = m
	a, err := l.Attempt(r)
	backendtest.MustWork(t, err)
	asked := func() (n int) {
		for _, c := range proxy.Commands() {
			if c.Line == "MKD "+strings.TrimPrefix(at, "/") {
				n++
			}
		}
		return n
	}
	backendtest.MustBeHeld(t, a)
	proxy.Reset()
	tries := 0
	for ; m.Now() < time.Minute; tries++ {
		backendtest.MustWork(t, a.Wait(soon(t)))
		backendtest.MustBeHeld(t, a)
		if m.Now() < 2*time.Second {
			t.Errorf("a waiter asks again %v after the first time, want 2s at least", m.Now())
		}
	}
	short := 0
	for _, p := range pauses {
		if p < 3*time.Second {
			short++
		}
	}
	if short > 2 || slices.Max(pauses) > 4*time.Second { // short pauses end with a look whether the holder lives
		t.Errorf("a waiter pauses for %v; of these %d are short, want 2 at most, and none longer than 4s", pauses, short)
	}
	if n := asked(); n != tries || n < 15 || n > 20 {
		t.Errorf("%d tries asked the server %d times in a minute, want once each, and 15 to 20 times", tries, n)
	}
	var others []string
	for _, c := range proxy.Commands() {
		if c.Line != "MKD "+strings.TrimPrefix(at, "/") {
			others = append(others, c.Line)
		}
	}
	if len(others) > 12 { // two looks whether the holder lives, and a heartbeat
		t.Errorf("apart from that it said %q", strings.Join(others, ", "))
	}
	backendtest.MustRelease(t, h)
	released := m.Now()
	for {
		backendtest.MustWork(t, a.Wait(soon(t)))
		h, err := a.Try(soon(t))
		if err == nil {
			backendtest.MustRelease(t, h)
			break
		}
		if held := (*backend.HeldError)(nil); !errors.As(err, &held) || m.Now() > time.Hour {
			t.Fatal(err)
		}
	}
	if took := m.Now() - released; took > 4*time.Second {
		t.Errorf("it noticed the release after %v", took)
	}
}
