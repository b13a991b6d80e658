package soak

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"text/tabwriter"
)

// A state is what there is at the end of an hour.
type state struct {
	goroutines int
	files      int // descriptors of this process
	heap       int // bytes
	entries    int // at the locks' places
	kept       int // what helpers keep open there
	calls      int // to these places, in the hour
	present    int // helpers
	held       int // times that a lock was taken, in the hour
}

// look sees the state of this process and these sites.
func look(sites []*site) state {
	s := state{goroutines: runtime.NumGoroutine(), files: openFiles(), heap: heap()}
	for _, at := range sites {
		s.entries += at.disk.entries()
		s.add(at)
	}
	return s
}

// add takes what was counted at a site since the last time.
func (s *state) add(at *site) {
	at.mu.Lock()
	defer at.mu.Unlock()
	s.present += at.present
	s.held += at.held
	at.held = 0
	at.disk.mu.Lock()
	defer at.disk.mu.Unlock()
	s.kept += at.disk.kept
	s.calls += at.disk.calls
	at.disk.calls = 0
}

// openFiles is 0 where the system does not tell.
func openFiles() int {
	fds, _ := os.ReadDir("/proc/self/fd")
	return len(fds)
}

// heap is what is left after two collections: the first may leave what has a finalizer.
func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// What a state may have more of than the first one. More than a hundred helpers
// come and go in an hour, so a leak is more than that.
const (
	// The runtime may be finishing something of its own.
	moreGoroutines = 2
	// Sixteen bytes in each heartbeat of the one who holds a lock all the time would be
	// more in five hours, and so would as many for each call of a waiter.
	moreHeap = 64 << 10
	// How many of the old tokens have been removed just then depends on the turns.
	moreEntries = 6
	// How often waiters ask is partly chance.
	callsPart = 4
)

// check compares the state after an hour with that after the first, at moments when
// nobody is there but the one who holds a lock all the time.
func (s state) check(t *testing.T, hour int, first state) {
	t.Helper()
	grows := func(what string, now, then, by int) {
		t.Helper()
		if now > then+by {
			t.Errorf("hour %d: %s: %d, after the first hour %d, which may grow by %d", hour, what, now, then, by)
		}
	}
	grows("helpers", s.present, 1, 0)
	grows("goroutines", s.goroutines, first.goroutines, moreGoroutines)
	grows("open files", s.files, first.files, 0)
	grows("bytes of heap", s.heap, first.heap, moreHeap)
	grows("names at the places", s.entries, first.entries, moreEntries)
	grows("kept open at the places", s.kept, first.kept, 0)
	grows("calls", s.calls, first.calls, first.calls/callsPart)
}

func describe(all []state) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "hour\ttaken\tgoroutines\tfiles\theap KiB\tnames\tkept open\tcalls\thelpers")
	for i, s := range all {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", i+1, s.held, s.goroutines, s.files, s.heap>>10, s.entries, s.kept, s.calls, s.present)
	}
	_ = w.Flush()
	return out.String()
}
