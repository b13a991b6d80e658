//go:build linux

package nfslab

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"locksmith/test/lab/mishaps"
)

// Who has the lock while the victim waits, and who wants it, too. Each moment's victim
// has a host of its own, so that five of them can live and die at the same time.
const (
	incumbentHost = 2
	rivalHost     = 3
	crashHosts    = 7
)

var victimHost = map[string]int{mishaps.Waiting: 1, mishaps.AtOK: 4, mishaps.Holding: 5, mishaps.Heartbeat: 6, mishaps.Releasing: 7}

// crashes measures all cells of test/crash's matrix that a version of NFS has.
func crashes(t *testing.T) {
	if c := here(); c.fs != "ext4" || c.version != "3" && c.version != "4.2" {
		t.Skip("test/crash's page has them from v3-ext4 and v4.2-ext4 only")
	}
	strikeAll(t, provoked, mishaps.Moments)
}

// someCrashes measures a few of them.
func someCrashes(t *testing.T) {
	few := slices.DeleteFunc(slices.Clone(provoked), func(m mishap) bool { return !m.few })
	strikeAll(t, few, []string{mishaps.Holding, mishaps.Heartbeat})
}

// strikeAll tells each cell in a line that begins with "cell:".
func strikeAll(t *testing.T, all []mishap, moments []string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pauses := &standstill{}
	go pauses.watch(ctx)
	for _, m := range all {
		t.Run(m.What, func(t *testing.T) {
			for _, moment := range moments {
				if why, senseless := m.Not[moment]; senseless {
					tellCell(t, m, moment, why)
					continue
				}
				t.Run(moment, func(t *testing.T) {
					if !m.alone {
						t.Parallel()
					}
					m.at(t, moment, pauses)
				})
			}
		})
	}
}

// tellCell tells the world what a cell is.
func tellCell(t *testing.T, m mishap, moment, seen string) {
	t.Helper()
	text, err := json.Marshal(crashCell{m.What, "nfs: over NFS " + here().version, moment, seen})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("cell: %s", text)
}

// maxTries is how often a moment is missed, or the guest at a standstill, before that is
// taken for a fault. Nobody promises that who gets no time to run notices anything in time.
const maxTries = 5

// at lets it happen at a moment, and judges what came of it.
func (m mishap) at(t *testing.T, moment string, pauses *standstill) {
	m.survives = m.survives || m.patient && moment == mishaps.Waiting
	dir := filepath.Dir(place(t))
	for try := 1; ; try++ {
		c := &crash{mishap: m, lease: m.span(), t: t, moment: moment, host: victimHost[moment], lock: fmt.Sprintf("%s/L%d", dir, try)}
		from := now()
		seen, hit := c.live()
		took := now() - from
		stood := took - pauses.without(from, from+took)
		if hit && c.fault == "" && m.Want.Allows(seen, moment, mishaps.Elsewhere) {
			tellCell(t, m, moment, seen)
			return
		}
		t.Logf("try %d took %v, of which %v at a standstill; moment hit: %v, seen: %s; %s", try, took, stood, hit, seen, c.fault)
		if hit && stood < time.Second || try == maxTries {
			t.Fatalf("%q, want %q; %s", seen, m.Want.Of(moment, mishaps.Elsewhere), c.fault)
		}
	}
}
