// Package holds judges from a record of a lock's holds whether the lock kept its promises: nobody
// holds it beside an exclusive holder, and fencing tokens rise. It imports nothing of ours.
//
// It judges twice, by the order of the holds and with a checker for linearizability. A fault that
// either finds counts. If a hold was really longer than its record says, that is not judged.
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

// Open is the End of a hold that has not ended.
const Open = time.Duration(math.MaxInt64)

// A Hold is the time for which somebody had a lock. It begins after the holder took the lock and
// ends before the holder let it go, so it is shorter than the real hold. All times are of one
// clock.
type Hold struct {
	Who        string
	Shared     bool
	Wanted     time.Duration // when the holder asked for the lock; 0: just before Start
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

// wanted is the earliest time at which the holder may have taken the lock.
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

// Faults returns what is wrong with the holds of one lock. It keeps and changes all. With fencing
// tokens each hold has a token, which is greater than all before. Only shared holders may have
// the token of shared holders before them. Without tokens no hold has one.
//
// If a hold ended before it began, it was lost before its holder could tell that it had the lock.
// Such a hold does not count.
func Faults(all []Hold, tokens bool) []string {
	all = slices.DeleteFunc(all, func(h Hold) bool { return h.End < h.Start })
	Sort(all)
	return append(byOrder(all, tokens), byModel(all, tokens)...)
}

// Judge reports the first ten faults.
func Judge(t testing.TB, all []Hold, tokens bool) {
	t.Helper()
	found := Faults(all, tokens)
	for _, fault := range found[:min(len(found), 10)] {
		t.Error(fault)
	}
}

// Together counts the pairs of holds of which one began before the other had ended. all is sorted
// by beginnings.
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

// A History is the story of one lock, told in the order in which it happens. Several goroutines
// may tell it. The zero History is empty.
type History struct {
	mu   sync.Mutex
	all  []Hold
	open map[string]int // index in all, by Who; dying: that holder was killed
}

const dying = -1

// Take tells that somebody has the lock from now on. It ignores a holder that was killed.
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

// Give tells that a holder is about to let go of the lock, was told that it has lost it, or had
// lost it by then.
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

// Kill tells that a process is about to be killed. What it does from now on does not count. If it
// does not have the lock now, a later Take of it does not count either.
func (h *History) Kill(who string, at time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.give(who, at) {
		h.note(who, dying)
	}
}

// All returns all holds, sorted by their beginnings.
func (h *History) All() []Hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := slices.Clone(h.all)
	Sort(all)
	return all
}
