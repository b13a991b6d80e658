package ftplab

import (
	"testing"
	"time"

	"locksmith/test/ftpserver"
)

// restart: the server goes away while somebody has the lock and others wait. If
// it comes back within the lease the holder keeps it; else the holder says that it is
// lost. In both cases the others get it afterwards.
func restart(t *testing.T, kind string) {
	inBothStyles(t, func(t *testing.T, style string) {
		p := start(t, kind, style, ftpserver.Options{})
		t.Run("back in time", p.backInTime)
		t.Run("too late", p.backTooLate)
	})
}

func (p *place) backInTime(t *testing.T) {
	const lease = 20 * time.Second
	p = p.in(t)
	first := p.hold("--lease", lease.String())
	id := first.held().Value("id")
	waiters := []*helper{p.wait("--lease", lease.String()), p.wait("--lease", lease.String())}
	p.server.Stop()
	time.Sleep(3 * time.Second)
	p.server.Restart()
	time.Sleep(lease / 2) // heartbeats
	first.silent()
	for _, w := range waiters {
		w.silent()
	}
	if holder := p.holder(); holder != id {
		t.Errorf("held by %q, want %s", holder, id)
	}
	first.release()
	oneAfterTheOther(waiters)
	p.atRest()
}

func (p *place) backTooLate(t *testing.T) {
	const lease = 6 * time.Second
	p = p.in(t)
	first := p.hold("--lease", lease.String())
	first.held()
	waiters := []*helper{p.wait(), p.wait()}
	p.server.Stop()
	lost := first.next("LOST")
	if code := lost.Value("code"); code != "expired" {
		t.Errorf("lost: %s", code)
	}
	for _, w := range waiters {
		w.silent()
	}
	p.server.Restart()
	first.letGo()
	first.exit(79)
	oneAfterTheOther(waiters)
	p.clean()
}

// oneAfterTheOther lets waiters take the lock and release it.
func oneAfterTheOther(waiters []*helper) {
	for left := waiters; len(left) > 0; {
		for i, w := range left {
			select {
			case s := <-w.said:
				if s.Word != "OK" {
					w.t.Fatalf("it said %q %q; stderr:\n%s", w.line(s), s.Text, &w.stderr)
				}
				w.release()
				left = append(left[:i:i], left[i+1:]...)
			case <-time.After(10 * time.Millisecond):
				continue
			case <-w.t.Context().Done():
				return
			}
			break
		}
	}
}
