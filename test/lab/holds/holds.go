// Package holds judges from what was recorded of a lock whether it kept its promises: that
// nobody has it beside one that has it exclusively, and that fencing tokens rise. It imports
// nothing of ours.
//
// It judges twice, by the order of the holds and with a checker for linearizability, and what
// either finds is a fault. What a hold was longer than its record says is not judged.
package holds

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"
)

// Open is the end of a hold that has not ended.
const Open = time.Duration(math.MaxInt64)

// A Hold is the time for which somebody had a lock: from after it took it to before it let it
// go, so that it is shorter than the real one. All times are of one clock.
type Hold struct {
	Who        string
	Shared     bool
	Wanted     time.Duration // since when it asked for the lock; 0: just before Start
	Start, End time.Duration
	Freed      time.Duration // when its release was done; 0: just after End
	Token      uint64        // 0: none
}

func (h Hold) String() string {
	how := "exclusive"
	if h.Shared {
		how = "shared"
	}
	return fmt.Sprintf("%s, %s, token %d, %.6f..%.6f", h.Who, how, h.Token, h.Start.Seconds(), h.End.Seconds())
}

// wanted is the earliest time at which it may have taken the lock.
func (h Hold) wanted() time.Duration {
	if h.Wanted == 0 {
		return h.Start
	}
	return h.Wanted
}

// freed is the latest time at which the lock may have become free.
func (h Hold) freed() time.Duration { return max(h.Freed, h.End) }

// Sort sorts holds by their beginnings.
func Sort(all []Hold) {
	slices.SortStableFunc(all, func(a, b Hold) int { return cmp.Compare(a.Start, b.Start) })
}

// Faults says what is wrong with the holds of one lock, which it takes over. With fencing tokens
// each has one, which is greater than all before; only those that share may have that of those
// that shared before them. Without, none has one.
//
// What ended before it began was lost before its holder could tell that it had it, and is none.
func Faults(all []Hold, tokens bool) []string {
	all = slices.DeleteFunc(all, func(h Hold) bool { return h.End < h.Start })
	Sort(all)
	return append(byOrder(all, tokens), byModel(all, tokens)...)
}

// Judge reports the first faults.
func Judge(t testing.TB, all []Hold, tokens bool) {
	t.Helper()
	found := Faults(all, tokens)
	for _, fault := range found[:min(len(found), 10)] {
		t.Error(fault)
	}
}

// Together counts the pairs of holds, sorted by their beginnings, of which one began before
// the other had ended.
func Together(all []Hold) (pairs int) {
	for i, a := range all {
		for _, b := range all[i+1:] {
			if b.Start < a.End {
				pairs++
			}
		}
	}
	return pairs
}

// A History is what is told of one lock, in the order in which it happens. Several goroutines
// may tell it. The zero History is empty.
type History struct {
	mu   sync.Mutex
	all  []Hold
	open map[string]int // in all, by who; dying: it was killed
}

const dying = -1

// Take: somebody has the lock from now on, until the history is told otherwise. Of one that
// was killed it says nothing.
func (h *History) Take(one Hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open[one.Who] == dying {
		return
	}
	one.End = Open
	h.all = append(h.all, one)
	h.note(one.Who, len(h.all)-1)
}

func (h *History) note(who string, at int) {
	if h.open == nil {
		h.open = map[string]int{}
	}
	h.open[who] = at
}

// Give: it is about to let the lock go, or was told that it has lost it, or had lost it by then.
func (h *History) Give(who string, at time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.give(who, at)
}

func (h *History) give(who string, at time.Duration) (held bool) {
	i, held := h.open[who]
	if held = held && i != dying; held {
		h.all[i].End = at
		delete(h.open, who)
	}
	return held
}

// Kill: what it does from now on counts for nothing, for it is about to be killed. If it does
// not have the lock, nor does it count if it is told that it takes it.
func (h *History) Kill(who string, at time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.give(who, at) {
		h.note(who, dying)
	}
}

// All returns all holds by their beginnings.
func (h *History) All() []Hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := slices.Clone(h.all)
	Sort(all)
	return all
}
