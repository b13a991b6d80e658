package locksmith

import (
	"context"
	"io"
	"os"
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

// TestMaxHold: a parent holds the lock for longer than it may, counted from OK. It is told that
// the lock is lost, and has a while to stop.
func TestMaxHold(t *testing.T) {
	const most = 8 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		c := &jumpingClock{start: clock.Runtime{}.Now()}
		w := &world{clock: c, heldFor: time.Hour}
		var out strings.Builder
		p := &Pipe{Out: &out, Parent: t.Context(), Clock: c}
		h := &Helper{Address: "fake:/x", Locker: w, Client: p, Timeout: Forever, Log: hclog.NewNullLogger(),
			Request: backend.Request{Owner: owner.Record{Mode: "exclusive", Lease: lease, MaxHold: most}, Clock: c}}
		held, err := h.Run()
		p.Finish(held, err)
		if CodeOf(err) != protocol.MaxHold || held != most+stopTime || w.inside || c.Now() != time.Hour+most+stopTime {
			t.Errorf("Run returns %v at %v after holding for %v, and the lock is there: %v; want code %s at %v, and no lock", err, c.Now(), held, w.inside, protocol.MaxHold, time.Hour+most+stopTime)
		}
		if lines := strings.Split(out.String(), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "OK ") || !strings.HasPrefix(lines[1], "LOST code=max_hold ") {
			t.Errorf("the helper wrote %q, want an OK and a LOST code=max_hold", lines)
		}
	})
}

// patientClock is a clock on which a last line never comes too late.
type patientClock struct{ clock.Runtime }

func (c patientClock) NewTimer(d time.Duration) clock.Timer {
	if d == lineTimeout {
		d = time.Hour
	}
	return c.Runtime.NewTimer(d)
}

// TestLinesInOrder: after a line that hangs for a while comes the next line. A BEAT is left out
// meanwhile.
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
		t.Errorf("the helper wrote the lines %q, want an OK, no BEAT, and \"RELEASED held_ms=1000\": look at Finish and tell (pipe.go)", lines)
	}
}

// stoodStill is a clock on which every time is over at once.
type stoodStill struct{ clock.Runtime }

func (stoodStill) NewTimer(time.Duration) clock.Timer {
	c := make(over, 1)
	c <- time.Now()
	return c
}

type over chan time.Time

func (o over) C() <-chan time.Time { return o }
func (over) Stop()                 {}

// TestOrderOfCalls: if the machine stood still, all lines may be due before the first has begun.
// LOST before OK would be no answer, and after it the lock would belong to nobody.
func TestOrderOfCalls(t *testing.T) {
	for range 200 {
		var out strings.Builder
		p := &Pipe{Out: &out, Parent: t.Context(), Clock: stoodStill{}}
		_ = p.Start(protocol.Grant{ID: "1", Mode: "exclusive", Lock: "fake:/x"})
		p.Lost(t.Context(), &LossError{Lock: "fake:/x", Code: protocol.Expired, Err: io.EOF})
		<-p.written
		if lines := strings.Split(out.String(), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "OK ") || !strings.HasPrefix(lines[1], "LOST ") {
			t.Fatalf("it wrote %q", lines)
		}
	}
}

// TestReleasedEarly: a helper that serves one lock after another tells of a release by a signal.
func TestReleasedEarly(t *testing.T) {
	for cause, want := range map[error]bool{ErrLetGo: false, ErrStdinClosed: false, &SignalError{os.Interrupt}: true} {
		for _, number := range []uint64{0, 7} {
			ctx, stop := context.WithCancelCause(t.Context())
			stop(cause)
			var out strings.Builder
			(&Pipe{Out: &out, Parent: ctx, Clock: clock.Runtime{}, Number: number}).Finish(time.Second, nil)
			line, err := protocol.Parse(out.String())
			if err != nil || line.Word != protocol.WordReleased || line.IsEarly() != (want && number > 0) {
				t.Errorf("after %v the line of request %d is %q, %v", cause, number, out.String(), err)
			}
		}
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

func TestPipe(t *testing.T) {
	var out strings.Builder
	ctx, cancel := context.WithCancel(t.Context())
	p := &Pipe{Out: &out, Parent: ctx, Beats: true, Clock: clock.Runtime{}}
	if err := p.Start(protocol.Grant{ID: "i", Mode: "exclusive", Lock: "fake:/x"}); err != nil {
		t.Fatal(err)
	}
	p.Waiting(nil)
	p.Beat(3 * time.Millisecond)
	cancel()
	p.Lost(t.Context(), &LossError{Lock: "fake:/x", Code: protocol.Expired, Err: errServer, Left: time.Hour}) // the parent is gone: no wait
	p.Finish(time.Second, nil)
	p.Finish(0, &LossError{Lock: "fake:/x", Code: protocol.Gone, Err: errServer})
	p.Finish(0, &backend.HeldError{Lock: "fake:/x", Holder: backend.Holder{PID: 7, Record: &owner.Record{ID: "h", User: "a b"}}})
	var words []string
	for line := range strings.Lines(out.String()) {
		l, err := protocol.Parse(line)
		if err != nil {
			t.Errorf("the line %q is not of the protocol: %v", line, err)
		}
		words = append(words, l.Word)
	}
	if got := strings.Join(words, " "); got != "OK BEAT LOST RELEASED ERR" {
		t.Errorf("the helper wrote lines with the words %q, want \"OK BEAT LOST RELEASED ERR\": look at Finish (pipe.go)", got)
	}
}

// TestParentDoesNotRead: a full pipe holds up neither heartbeats nor release.
func TestParentDoesNotRead(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	p := &Pipe{Out: w, Parent: t.Context(), Beats: true, Clock: clock.Runtime{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 3000 { // 64 KiB hold fewer
			p.Beat(time.Second)
		}
		p.Finish(time.Second, nil)
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the helper hangs on a parent that does not read")
	}
}

// TestLongHolder: a holder that says too much of itself cannot prevent ERR.
func TestLongHolder(t *testing.T) {
	var out strings.Builder
	p := &Pipe{Out: &out, Parent: t.Context(), Clock: clock.Runtime{}}
	p.Finish(0, &backend.HeldError{Lock: "fake:/x", Holder: backend.Holder{Record: &owner.Record{ID: "h", User: strings.Repeat("\x01", 3000)}}})
	if l, err := protocol.Parse(out.String()); err != nil || l.Value("code") != "held" {
		t.Errorf("the parent hears %q (%v), want ERR with code=held", out.String(), err)
	}
}
