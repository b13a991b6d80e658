package locksmith

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// TestMost: a lock is held for as long as was said, from OK on, and released in good
// order.
func TestMost(t *testing.T) {
	const most = 8 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		c := &jumpingClock{start: clock.Runtime{}.Now()}
		w := &world{clock: c, heldFor: time.Hour}
		var out strings.Builder
		p := &Pipe{Out: &out, Parent: t.Context(), Most: most, Clock: c}
		h := &Helper{Address: "fake:/x", Locker: w, Guard: p, Timeout: Forever, Log: hclog.NewNullLogger(),
			Request: backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: lease}, Clock: c}}
		held, err := h.Run()
		p.Finish(held, err)
		if err != nil || held != most || w.inside || c.Now() != time.Hour+most {
			t.Errorf("held %v, %v, inside %v, after %v", held, err, w.inside, c.Now())
		}
		if lines := strings.Split(out.String(), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "OK ") || lines[1] != "RELEASED held_ms=28800000" {
			t.Errorf("it wrote %q", lines)
		}
	})
}

// patientClock is a clock on which nobody waits in vain for a last line.
type patientClock struct{ clock.Runtime }

func (c patientClock) NewTimer(d time.Duration) clock.Timer {
	if d == lastPatience {
		d = time.Hour
	}
	return c.Runtime.NewTimer(d)
}

// TestLinesInOrder: a line that hangs for a while is followed by the next one, and a BEAT
// is left out meanwhile.
func TestLinesInOrder(t *testing.T) {
	r, w := io.Pipe()
	p := &Pipe{Out: w, Parent: t.Context(), Beats: true, Clock: patientClock{}}
	if err := p.Start(protocol.Grant{ID: "1", Mode: "exclusive", Lease: 8 * time.Millisecond, Lock: "fake:/x"}); err != nil {
		t.Fatal(err)
	}
	p.Beat(0)
	told := make(chan string)
	go func() {
		text, _ := io.ReadAll(r)
		told <- string(text)
	}()
	p.Finish(time.Second, nil)
	_ = w.Close()
	text := <-told
	if lines := strings.Split(text, "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "OK ") || lines[1] != "RELEASED held_ms=1000" {
		t.Errorf("it wrote %q", lines)
	}
}

// TestErrorOnce: a parent that is slow to read finds one ERR line.
func TestErrorOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		p := &Pipe{Out: w, Parent: t.Context(), Clock: clock.Runtime{}}
		p.Finish(0, &TimeoutError{Lock: "fake:/x"})
		var got strings.Builder
		go func() { _, _ = io.Copy(&got, r) }()
		synctest.Wait()
		if n := strings.Count(got.String(), "ERR "); n != 1 {
			t.Errorf("%d of it: %q", n, got.String())
		}
		_ = w.Close()
	})
}
