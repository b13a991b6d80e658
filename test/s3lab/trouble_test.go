//go:build unix

package s3lab

import (
	"errors"
	"fmt"
	"testing"

	"locksmith/backends/backend"
	"locksmith/test/backendtest"
	"locksmith/test/lab/lifecycle"
	"locksmith/test/s3server"
)

// trouble: one fault happens to one request of a lock's life, to each request in turn. The lock
// is then had or not had, never by two, goes on being held, and nothing is left behind.
func trouble(t *testing.T, name string) {
	s := open(t, name)
	whole := s.suffer(t, "untroubled", s3server.None, 0)
	step := 6 // some fault happens to each request
	if name == s3server.Embedded {
		step = 2
	}
	came := map[string]int{}
	for f, what := range s3server.Faults {
		for n := range whole.requests {
			if !*long && (int(f)+n)%step != 0 {
				continue
			}
			came[s.suffer(t, fmt.Sprintf("%s %d", what, n), f, n).outcome]++
		}
	}
	t.Logf("%d requests, %v", whole.requests, came)
	if whole.outcome != "held" || came["held"] < 3*whole.requests/4 {
		t.Errorf("too few lives came as far as to hold the lock: %v, and untroubled: %s", came, whole.outcome)
	}
}

// A life is the outcome of a lock's life.
type life struct {
	outcome  string
	requests int
}

// suffer goes through a lock's life, in which a fault happens to the nth request.
func (s *store) suffer(t *testing.T, name string, f s3server.Fault, n int) life {
	t.Helper()
	proxy := s.behind(t)
	direct := place{s, s.endpoint, fmt.Sprintf("trouble/%d-%d", f, n)}
	by := direct
	by.endpoint = proxy.Endpoint
	proxy.Fail(n, f)
	r := lifecycle.Life{Open: func() backend.Backend { return by.open(t) }, Rival: direct.open(t)}
	acquired, broken := r.Whole()
	requests := proxy.Requests()
	switch {
	case broken != nil:
		t.Errorf("%s: %v\n%q", name, broken, requests)
	case acquired != nil && !lifecycle.IsClear(acquired):
		t.Errorf("%s: not acquired: %v\n%q", name, acquired, requests)
	}
	direct.next(t, name)
	if acquired != nil {
		return life{"not acquired", len(requests)}
	}
	return life{"held", len(requests)}
}

// next makes sure that the next holder has the lock at once, and clears up what is left.
func (p place) next(t *testing.T, after string) {
	t.Helper()
	a, err := p.open(t).Attempt(backendtest.Request())
	if err != nil {
		t.Fatal(err)
	}
	h, err := a.Try(t.Context())
	if err != nil {
		t.Errorf("after %s: %v", after, err)
		return
	}
	if err := errors.Join(h.Heartbeat(t.Context()), h.Tend(t.Context()), h.Release(t.Context())); err != nil {
		t.Errorf("after %s: %v", after, err)
	}
	if left := p.leftovers(t); len(left) > 0 {
		t.Errorf("after %s: left: %q", after, left)
	}
}
