//go:build unix

package s3lab

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"locksmith/test/lab"
	"locksmith/test/s3server"
)

// TestThrottled: a store turns away some requests, or for some seconds all of them, or all
// writes, as a store does that lacks most of its nodes. A command that may wait for a minute
// waits until its requests are executed.
func TestThrottled(t *testing.T) {
	lab.NotShort(t, "waits for seconds")
	locksmith(t) // builds the programs before any time counts
	often := func(string) bool { return rand.Float64() < 0.3 }
	all := func(string) bool { return true }
	for about, c := range map[string]struct {
		turns   func(string) bool
		lasts   time.Duration // 0: to the end
		clients int
		timeout string
		status  int
		at      time.Duration // the earliest moment at which the command may end
	}{
		"30 % of all requests":     {often, 0, 6, "60s", 0, 0},
		"all for some seconds":     {all, 5 * time.Second, 2, "60s", 0, 4 * time.Second},
		"writes for some seconds":  {func(r string) bool { return strings.HasPrefix(r, "PUT") || strings.HasPrefix(r, "DELETE") }, 5 * time.Second, 2, "60s", 0, 4 * time.Second},
		"all, for longer than D":   {all, 0, 2, "3s", 69, 3 * time.Second},
		"all, and only one try":    {all, 0, 2, "0", 69, 0},
		"all, and for a lease yet": {all, 0, 1, "", 69, 4 * time.Second},
	} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			p := openPlace(t, s3server.Embedded)
			proxy := p.behind(t)
			p.endpoint = proxy.Endpoint
			proxy.TurnAway(c.turns)
			if c.lasts > 0 {
				timer := time.AfterFunc(c.lasts, func() { proxy.TurnAway(nil) })
				defer timer.Stop()
			}
			flags := []string{"run", "--timeout", c.timeout}
			if c.timeout == "" {
				flags = []string{"run", "--lease", "4s"}
			}
			began := time.Now()
			var clients sync.WaitGroup
			for range c.clients {
				clients.Go(func() {
					client := locksmith(t, append(slices.Clone(flags), p.address(), "--", "true")...)
					said, _ := client.CombinedOutput()
					if status := client.ProcessState.ExitCode(); status != c.status {
						t.Errorf("exit status %d after %v, want %d:\n%s", status, time.Since(began), c.status, said)
					}
				})
			}
			clients.Wait()
			if took := time.Since(began); took < c.at {
				t.Errorf("the commands ended after %v, want at least %v", took, c.at)
			}
		})
	}
}
