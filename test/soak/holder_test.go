//go:build linux

package soak

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/protocol"
	"locksmith/test/lab"
)

const (
	// lease is the lease of all helpers: long enough for a machine that is busy with other things.
	lease = 10 * time.Second
	// refresh is the shortest time allowed, because it is heartbeats that may leak.
	refresh = time.Second
)

// command returns a command of locksmith's. Its Go runtime collects garbage long before there are
// megabytes of it, because garbage that was not collected yet is no leak.
func command(program string, args ...string) *exec.Cmd {
	if !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "flock:") }) { // which has none
		args = slices.Insert(args, 1, "--lease", lease.String())
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "GOGC=5")
	return cmd
}

// A holder is a helper that holds its lock all the time.
type holder struct {
	place
	*lab.Helper
	pid      int // the helper's
	visitors *visitors
	samples  series
	beats    atomic.Int64
	gap      atomic.Int64 // the longest time between two heartbeats, in nanoseconds
	ended    chan error   // receives why, when it has said its last
}

// keep starts a holder, which holds the lock then.
func (p place) keep(t *testing.T, program string) *holder {
	t.Helper()
	h := lab.Hold(t, command(program, append([]string{"hold", "--beats", "--refresh", refresh.String()}, p.kept...)...))
	h.Held()
	k := &holder{place: p, Helper: h, pid: h.PID(), visitors: &visitors{place: p, program: program}, ended: make(chan error, 1)}
	go k.listen()
	return k
}

// listen notes the heartbeats. A line that we read late is no late heartbeat: the line says when
// the heartbeat was sent.
func (k *holder) listen() {
	for last := time.Now(); ; {
		said, err := k.Next()
		switch {
		case err != nil:
			k.ended <- fmt.Errorf("no %s: %w", protocol.WordReleased, err)
			return
		case said.Word == protocol.WordReleased:
			k.ended <- nil
			return
		case said.Word != protocol.WordBeat:
			k.ended <- fmt.Errorf("it said %s: %s", said.Word, said.Line.Text)
			return
		}
		ago, _ := said.Millis("sent_ms")
		sent := said.At.Add(-ago)
		k.beats.Add(1)
		k.gap.Store(max(k.gap.Load(), int64(sent.Sub(last))))
		last = sent
	}
}

// longest returns the longest time between two heartbeats.
func (k *holder) longest() time.Duration { return time.Duration(k.gap.Load()) }

// check makes sure that the holder has held the lock all the time, and that its heartbeats came
// before the lease was in danger. The time for which the machine stood still does not count.
func (k *holder) check(t *testing.T, held, stood time.Duration) {
	t.Helper()
	latest := lease * 3 / 4
	if gap := k.longest() - stood; gap >= latest {
		t.Errorf("%s: %v between two heartbeats, at a lease of %v", k.name, gap, lease)
	}
	if least := int64((held - stood) / latest); k.beats.Load() < least {
		t.Errorf("%s: %d heartbeats in %v, want %d at least", k.name, k.beats.Load(), held, least)
	}
}

// release ends the holder, and returns when the lock was removed.
func (k *holder) release(t *testing.T) {
	t.Helper()
	k.LetGo()
	if err := <-k.ended; err != nil {
		t.Errorf("%s: %v; stderr:\n%s", k.name, err, k.Stderr())
	}
	k.Exits(0)
}
