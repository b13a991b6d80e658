//go:build unix

package s3lab

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

// figure prints a measurement as a line that a program can find: figure: NAME key=value…
func figure(t *testing.T, name, format string, args ...any) {
	t.Helper()
	t.Logf("figure: s3-%s %s", name, fmt.Sprintf(format, args...))
}

// requests counts the requests of each step of a lock's life, which the guide states. Only here
// can it be seen that the library sends no further requests by itself.
func requests(t *testing.T, name string) {
	p := openPlace(t, name)
	proxy := p.behind(t)
	p.endpoint = proxy.Endpoint
	spent := func(step string, want int, do func() error) {
		t.Helper()
		before := len(proxy.Requests())
		if err := do(); err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		all := proxy.Requests()[before:]
		figure(t, "requests", "store=%s step=%s n=%d", strings.ReplaceAll(name, " ", "-"), step, len(all))
		if len(all) != want {
			t.Errorf("%s: %q, want %d", step, all, want)
		}
	}
	var h backend.Hold
	try := func() error {
		a, err := p.open(t).Attempt(backendtest.Request())
		if err == nil {
			h, err = a.Try(t.Context())
		}
		return err
	}
	beat := func() error { return h.Heartbeat(t.Context()) }
	release := func() error { return h.Release(t.Context()) }
	spent("first", 5, try)
	spent("release", 4, release)
	spent("acquire", 7, try)
	spent("heartbeat", 4, beat)
	spent("release", 5, release)
}

// handOffs measures the time from a release to the OK of the next holder. That one has waited for
// a moment, or for so long that it asks as seldom as the first in a queue ever does.
func handOffs(t *testing.T, name string) {
	const pairs = 15
	p := openPlace(t, name)
	for _, waited := range []time.Duration{time.Second, 20 * time.Second} {
		var holders, waiters []*lab.Helper
		for i := range pairs {
			one := p
			one.prefix = fmt.Sprintf("handoff/%v/%d", waited, i)
			hold := func(flags ...string) *lab.Helper { return one.hold(t, flags...) }
			first := hold()
			first.Held()
			holders, waiters = append(holders, first), append(waiters, lab.Waiting(t, hold))
		}
		time.Sleep(waited) // what is measured
		var took []time.Duration
		for i, first := range holders {
			begin := time.Now()
			first.LetGo()
			took = append(took, waiters[i].Held().At.Sub(begin))
			waiters[i].Release()
		}
		slices.Sort(took)
		figure(t, "handoff", "store=%s waited_s=%.0f p50_ms=%.0f max_ms=%.0f", strings.ReplaceAll(name, " ", "-"), waited.Seconds(),
			ms(took[pairs/2]), ms(took[pairs-1]))
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
