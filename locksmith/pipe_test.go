package locksmith

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
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
