//go:build unix

package soak

import (
	"testing"
	"testing/synctest"
	"time"

	"locksmith/locksmith"
	"locksmith/test/lab"
	"locksmith/test/lab/holds"
)

const hours = 6

// TestHours: helpers that come and go for hours leave nothing behind: not in the process, not at
// the lock's place, and not in the number of requests of helpers that stay.
func TestHours(t *testing.T) {
	lab.NotShort(t, "hours of many helpers take seconds")
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { soakHours(t, k) })
		})
	}
}

func soakHours(t *testing.T, k kind) {
	busy, silent, kept := newSite(t, k), newSite(t, k), newSite(t, k)
	sites := []*site{busy, silent, kept}
	holder := kept.begin(visit{host: near, mode: exclusive, lease: 12 * time.Second, timeout: locksmith.Forever, hold: hours * time.Hour})
	go holder.live()
	synctest.Wait()
	var seen []state
	for range hours {
		busy.plays(busyHour(k))
		silent.plays(silentHour(k))
		kept.plays(keptHour())
		time.Sleep(time.Hour - time.Second)
		synctest.Wait()
		seen = append(seen, look(sites))
		time.Sleep(time.Second)
	}
	time.Sleep(time.Minute)
	t.Logf("\n%s", describe(seen))
	for n, s := range seen[1:] {
		s.check(t, n+2, seen[0])
	}
	for _, s := range sites {
		holds.Judge(t, s.history.All(), k.tokens)
	}
}
