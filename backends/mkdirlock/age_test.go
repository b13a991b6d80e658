//go:build unix

package mkdirlock

import (
	"strings"
	"testing"
	"time"

	"locksmith/backends/mkdirlock/dirs"
	"locksmith/test/faulty"
)

// TestAge: the age of a last heartbeat is the difference of two times of the place, whatever our own clock
// says. The place is asked once for its time. If it refuses to make a directory, no age is told.
func TestAge(t *testing.T) {
	for _, k := range everyKind {
		for _, c := range []struct {
			minutes, refuses bool
			age              time.Duration // after two minutes and a half
		}{{false, false, 150 * time.Second}, {true, false, time.Minute}, {false, true, 0}} {
			t.Run(name(k, " ", c), func(t *testing.T) {
				inBubble(t, func(t *testing.T, m *memory) {
					d := newDated(m)
					d.minutes = c.minutes
					newHost("elsewhere", d, k).take(t, "exclusive") // and dies
					probes := 0
					d.hook = func(o faulty.Call) error {
						if o.Op == "mkdir" {
							probes++
							if c.refuses {
								return dirs.ErrRefused
							}
						}
						return o.Do()
					}
					time.Sleep(150 * time.Second)
					before := strings.Join(d.All(), " ")
					l := newHost("here", d, k).lock()
					l.clock, l.Today = &placeClock{}, func() time.Time { return time.Now().Add(3 * time.Hour) }
					for range 2 {
						r, err := l.Read(t.Context())
						mustWork(t, err)
						if h := r.Holders[0]; h.Heartbeat.Round(time.Second) != c.age || h.ByPlace != (c.age > 0) {
							t.Errorf("its last heartbeat is told to be %v old, by the place's clock: %v; want %v", h.Heartbeat, h.ByPlace, c.age)
						}
					}
					if probes != 1 {
						t.Errorf("the place's time was asked for %d times", probes)
					}
					if after := strings.Join(d.All(), " "); after != before {
						t.Errorf("a look left %s of %s", after, before)
					}
				})
			})
		}
	}
}
