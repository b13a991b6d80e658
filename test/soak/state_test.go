//go:build unix

package soak

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"text/tabwriter"
)

// A state is what is counted at the end of an hour.
type state [counts]int

// What is counted.
const (
	taken      = iota // times that a lock was taken, in the hour
	calls             // to the locks' places, in the hour
	present           // helpers
	goroutines        // of this process
	opened            // descriptors of this process
	heap              // bytes
	left              // names at the places
	keptOpen          // there, by helpers
	counts
)

// counted says by how much a state may exceed the first one. More than a hundred helpers come and
// go in an hour, so a leak is more than that.
var counted = [counts]struct {
	what string
	by   func(first int) int // nil: it does not matter
}{
	taken: {what: "taken"},
	// How often waiters ask is partly chance.
	calls:   {"calls", func(first int) int { return first / 4 }},
	present: {"helpers", few(0)},
	// The runtime may be finishing something of its own.
	goroutines: {"goroutines", few(2)},
	opened:     {"open files", few(0)},
	// A leak of sixteen bytes at each heartbeat of the helper that holds a lock all the time would
	// be more in five hours, and so would one of as many bytes at each call of a waiter.
	heap: {"bytes of heap", few(64 << 10)},
	// How many of the old tokens have been removed just then depends on the turns.
	left:     {"names", few(6)},
	keptOpen: {"kept open", few(0)},
}

func few(n int) func(int) int { return func(int) int { return n } }

// look returns the state of this process and the sites.
func look(sites []*site) (s state) {
	fds, _ := os.ReadDir("/proc/self/fd") // none where the system does not tell
	// The first collection may leave objects that have a finalizer.
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s[goroutines], s[opened], s[heap] = runtime.NumGoroutine(), len(fds), int(m.HeapAlloc)
	for _, at := range sites {
		s[left] += entries(at.disk.dir)
		at.count(&s)
	}
	return s
}

// check compares the state after an hour with the state after the first hour, both at a moment
// when the only helper is the one that holds a lock all the time.
func (s state) check(t *testing.T, hour int, first state) {
	t.Helper()
	for i, c := range counted {
		if c.by != nil && s[i] > first[i]+c.by(first[i]) {
			t.Errorf("hour %d: %s: %d, after the first hour %d", hour, c.what, s[i], first[i])
		}
	}
	if s[present] != 1 {
		t.Errorf("hour %d: %d helpers, want the one that holds a lock all the time", hour, s[present])
	}
}

func describe(all []state) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "hour")
	for _, c := range counted {
		fmt.Fprint(w, "\t", c.what)
	}
	for hour, s := range all {
		fmt.Fprint(w, "\n", hour+1)
		for _, n := range s {
			fmt.Fprint(w, "\t", n)
		}
	}
	fmt.Fprintln(w)
	_ = w.Flush()
	return out.String()
}
