package ftp

import (
	"context"
	"strings"
	"testing"
	"time"

	"locksmith/backends/mkdirlock/dirs"
)

func (f *fake) sessions() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.session
}

// pass advances the clock, whether anybody waits for that or not.
func (m *manual) pass(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now += d
}

// TestRefusalIsRemembered: after a password was refused, no connection of the lock tries it again
// and again, until a log in works.
func TestRefusalIsRemembered(t *testing.T) {
	t.Parallel()
	f, m := startFake(t).when("PASS", says("530 Login incorrect.")), &manual{}
	holder := f.dir()
	holder.server.backoff.Clock = m
	waiter := holder.server.newDir()
	t.Cleanup(waiter.Close)
	refused := 0
	for _, silence := range []time.Duration{30, 60, 120, 240, 480, 600, 600} {
		refused++
		for range 3 {
			for _, d := range []*Dir{holder, waiter} {
				if err := d.Mkdir(soon(t), "L"); come(err) != "permission" || !strings.Contains(err.Error(), "Login incorrect") {
					t.Error(err)
				}
			}
		}
		if f.sessions() != refused {
			t.Fatalf("%d sessions, want %d", f.sessions(), refused)
		}
		m.pass(silence*time.Second - 1)
		if err := waiter.Mkdir(soon(t), "L"); come(err) != "permission" || f.sessions() != refused {
			t.Errorf("too early: %v", err)
		}
		m.pass(1)
	}
	f.when("PASS", (*talk).obey)
	for _, d := range []*Dir{holder, waiter} {
		if err := d.Mkdir(soon(t), "L"); err != nil {
			t.Error(err)
		}
	}
	f.when("PASS", says("530 Login incorrect."))
	holder.drop()
	if err := holder.Mkdir(soon(t), "L"); come(err) != "permission" {
		t.Error(err)
	}
	m.pass(30 * time.Second) // the pause is as long as at first
	f.when("PASS", (*talk).obey)
	if err := holder.Mkdir(soon(t), "L"); err != nil {
		t.Error(err)
	}
}

// TestPauses: a server that is full, or away, is asked less and less often. Each client asks at
// its own random time.
func TestPauses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		shut func(*fake)
		want string
	}{
		"full":         {func(f *fake) { f.when(greeting, says("421 Too many connections")) }, "busy"},
		"full by PASS": {func(f *fake) { f.when("PASS", says("530 Sorry, too many users")) }, "busy"},
		"full by MKD":  {func(f *fake) { f.when("MKD", says("421 Too many connections")) }, "busy"},
		"away":         {func(f *fake) { f.listener.Close() }, "unreachable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, m := startFake(t), &manual{}
			tt.shut(f)
			d := f.dir()
			d.server.backoff.Clock = m
			if err := d.Mkdir(soon(t), "L"); come(err) != tt.want {
				t.Fatalf("the first call to a server that is %s is %s, want %s; its error is %v", name, come(err), tt.want, err)
			}
			for _, pause := range []time.Duration{1000, 1500, 2250} {
				pause *= time.Millisecond
				if name == "full by MKD" {
					pause = time.Second // because it has let us in
				}
				asked := f.sessions()
				result := make(chan error)
				go func() { result <- d.Mkdir(soon(t), "L") }()
				eventually(t, func() bool { return m.waiting() > m.Now() })
				at, left := m.waiting(), m.waiting()-m.Now()
				if left < pause/2 || left > pause {
					t.Errorf("it waits for %v, want up to %v", left, pause)
				}
				m.advance(t, at, left-1)
				if f.sessions() != asked {
					t.Error("it did not wait")
				}
				m.advance(t, at, 1)
				if err := <-result; come(err) != tt.want {
					t.Error(err)
				}
			}
		})
	}
}

// TestPauseEnds: a pause ends at once with the context, with an error that still says why. A
// session that begins ends the pauses for good.
func TestPauseEnds(t *testing.T) {
	t.Parallel()
	f, m := startFake(t).when(greeting, says("421 Too many connections")), &manual{}
	d := f.dir()
	d.server.backoff.Clock = m
	if err := d.Mkdir(soon(t), "L"); come(err) != "busy" {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(soon(t))
	time.AfterFunc(20*time.Millisecond, cancel)
	begun := time.Now()
	err := d.Mkdir(ctx, "L")
	if come(err) != "over" || !strings.Contains(err.Error(), dirs.ErrBusy.Error()) || time.Since(begun) > late {
		t.Errorf("after %v: %v", time.Since(begun), err)
	}
	m.pass(time.Second)
	f.when(greeting, (*talk).obey)
	if err := d.Mkdir(soon(t), "L"); err != nil {
		t.Error(err)
	}
	d.drop()
	if err := d.Mkdir(soon(t), "L"); err != nil || f.sessions() != 3 {
		t.Errorf("%d sessions: %v", f.sessions(), err)
	}
}
