//go:build linux

package soak

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/locksmith/events"
	"locksmith/test/lab"
)

// visitors come to a place, one after the other.
type visitors struct {
	place
	program string
	visits  atomic.Int64
}

// An errand is what a caller comes for.
type errand struct {
	what string
	do   func(caller)
}

// errands are all there are. Those who are killed have no parent, so that others know at
// once that they are dead.
var errands = []errand{
	{"take it and leave it", caller.run},
	// On a busy machine the place may not even answer in that time.
	{"give up after a time", func(c caller) { lab.Start(c, c.command([]string{"hold", "--timeout", "0.3"}, c.kept)).Exits(75, 69) }},
	{"be told to go while waiting", func(c caller) {
		p := c.wait("hold")
		p.LetGo()
		p.Exits(75)
	}},
	{"be killed while waiting", func(c caller) { c.wait("run", "--", "true").Kill() }},
	{"hold it and let it go", func(c caller) {
		h := lab.Hold(c, c.command([]string{"hold"}, c.busy))
		h.Held()
		h.Release()
	}},
	{"be killed while holding", func(c caller) {
		p := lab.Start(c, c.command([]string{"run"}, c.busy, "--", "sh", "-c", "echo held; exec sleep 1000"))
		p.Expect("held")
		p.Kill()
	}},
	{"come after the dead", caller.run},
}

// come makes one visit after the other until ctx ends. What has begun comes to its end.
func (v *visitors) come(ctx context.Context, t *testing.T, pause time.Duration) {
	for n := 0; ctx.Err() == nil; n++ {
		one := errands[n%len(errands)]
		c := caller{visitors: v, T: t, what: one.what, over: new([]func())}
		func() {
			defer c.leave()
			one.do(c)
		}()
		v.visits.Add(1)
		rest(ctx, pause)
	}
}

// A caller makes one visit. To the lab it is a test, so that its processes end with it.
type caller struct {
	*visitors
	*testing.T
	what string
	over *[]func()
}

// Cleanup has something done when the visit is over.
func (c caller) Cleanup(f func()) { *c.over = append(*c.over, f) }

func (c caller) leave() {
	for _, f := range slices.Backward(*c.over) {
		f()
	}
}

// Fatalf ends the visits to the place.
func (c caller) Fatalf(format string, args ...any) {
	c.Helper()
	c.Errorf("%s: %s: "+format, append([]any{c.name, c.what}, args...)...)
	runtime.Goexit()
}

// command returns a command of locksmith's: flags come first, more follows the locks.
func (c caller) command(flags, locks []string, more ...string) *exec.Cmd {
	return command(c.program, slices.Concat(flags, locks, more)...)
}

func (c caller) run() {
	if status, said := lab.Run(c, c.command([]string{"run"}, c.busy, "--", "true")); status != 0 {
		c.Fatalf("exit status %d: %s", status, said)
	}
}

// wait starts one that waits for the lock which is always held.
func (c caller) wait(what string, more ...string) *lab.Process {
	told, tells, err := os.Pipe()
	if err != nil {
		c.Fatalf("%v", err)
	}
	defer tells.Close()
	c.Cleanup(func() { told.Close() }) // it may write on until it ends
	cmd := c.command([]string{what, "--events", "fd:3"}, c.kept, more...)
	cmd.ExtraFiles = []*os.File{tells}
	p := lab.Start(c, cmd)
	_ = told.SetReadDeadline(time.Now().Add(lab.Patience))
	line, err := bufio.NewReader(told).ReadString('\n')
	if e, wrong := events.Parse([]byte(line)); err != nil || wrong != nil || e.Kind != events.Waiting {
		c.Fatalf("it said %q (%v), want that it waits", line, err)
	}
	return p
}
