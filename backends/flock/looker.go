//go:build unix

package flock

import (
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/flocks"
	"locksmith/backends/owner"
	"locksmith/backends/process"
)

// A looker finds out, for one that waits, who has the lock. What it looks at grows with the number
// of processes and of waiters, and /proc/locks stops all locking on the machine while the kernel
// writes it. If each of a crowd looked at all, the lock would hardly go on. So a look takes these
// steps until one of them names a holder:
//
//	step     it looks at                                                          taken
//	known    the process on record, those that it named before, and first itself  always
//	takers   /proc/locks, and the processes that took the lock                    when it is due, and at the second look
//	all      all processes                                                        then, if few wait; else when it is
//	                                                                              due again, and the same took it
//
// If the record or the takers change meanwhile, the lock goes from hand to hand, and whoever has it
// now is not worth a search.
type looker struct {
	lock    *Lock
	here    owner.Place
	clock   clock.Clock
	longest time.Duration // from one look to the next, at first
	began   time.Duration // when the lock was first refused, or was last seen to have gone on
	looks   int           // so far
	due     time.Duration // when it may look beyond those that it knows
	named   flocks.Seen   // who has the lock, by the last look that told
	record  string        // the id on record, at the last look
	takers  []int         // at the last look at /proc/locks, if that named nobody
	again   bool          // takers are known
}

// Eyes are the ways to look, each of which costs more than the one before. Tests count them.
type eyes struct {
	known  func(path string, pids ...int) flocks.Seen
	takers look
	all    look
	tasks  func() int // of this machine
}

func kernelsEyes() eyes { return eyes{flocks.Of, flocks.Peek, flocks.Look, process.Tasks} }

const (
	// firstLook is when a waiter first looks beyond those that it knows. Most waits are shorter.
	firstLook = 500 * time.Millisecond
	// nextLook is when it looks again after it has found a holder, before run tells after a minute
	// that it still waits.
	nextLook = 45 * time.Second
	// few may look at all processes at the same time.
	few = 8
	// perTask is about what a look costs for each task of the machine.
	perTask = 50 * time.Microsecond
)

func newLooker(l *Lock, r backend.Request) looker {
	k := looker{lock: l, here: r.Owner.Place, clock: r.Clock, longest: nextLook}
	if r.Timeout != backend.NoLimit {
		k.longest = min(k.longest, r.Timeout/2)
	}
	return k
}

// holder is the first of those that have the lock, as far as that is known.
func (k *looker) holder() backend.Holder {
	record := k.lock.record()
	k.look(k.clock.Now(), record)
	if all := k.lock.holders(k.named, record, k.here); len(all) > 0 {
		return all[0]
	}
	return backend.Holder{Verdict: owner.Unknown}
}

// look brings named up to date.
func (k *looker) look(now time.Duration, record *owner.Record) {
	k.looks++
	if k.looks == 1 {
		k.began = now
	}
	moved := k.hasMoved(record)
	seen := k.lock.eyes.known(k.lock.path, k.known(record)...)
	switch {
	case len(seen.Keepers) > 0:
		if k.named = seen; now >= k.due {
			k.due = now + k.pause(now, k.longest)
		}
	case k.looks == 1, len(k.named.Keepers) > 0:
		k.began = now
		k.goesOn(now, min(firstLook+k.spread(few), k.longest))
	case now < k.due && k.looks != 2: // the second may be the last, if the tries are counted
	case moved:
		k.goesOn(now, k.pause(now, firstLook)+k.spread(few))
	default:
		k.search(now)
	}
}

// search looks at /proc/locks, and perhaps at all processes.
func (k *looker) search(now time.Duration) {
	seen, err := k.lock.eyes.takers(k.lock.path)
	waiting := seen.Crowd
	switch isNew := !k.again || !slices.Equal(seen.Takers, k.takers); {
	case err != nil:
		k.goesOn(now, k.pause(now, firstLook))
		return
	case len(seen.Keepers) > 0 || seen.Unnamed:
		k.named, k.due, k.again = seen, now+k.pause(now, k.longest), false
		return
	case waiting > few && isNew:
		k.goesOn(now, k.pause(now, firstLook)+k.spread(waiting))
		k.takers, k.again = seen.Takers, true
		return
	}
	all, err := k.lock.eyes.all(k.lock.path)
	if err != nil || len(all.Keepers) == 0 && !(all.Held() && slices.Equal(all.Takers, seen.Takers)) {
		k.goesOn(now, k.pause(now, firstLook)+k.spread(max(waiting, few)))
		return
	}
	k.named, k.due = all, now+k.pause(now, k.longest)+k.spread(waiting)
}

// goesOn notes that somebody else has the lock by now, of whom nothing is known.
func (k *looker) goesOn(now, pause time.Duration) {
	k.named, k.due, k.again = flocks.Seen{}, now+pause, false
}

// known are the processes that may have the lock for all we know.
func (k *looker) known(record *owner.Record) []int {
	var pids []int
	if k.looks == 1 { // it may have inherited the lock
		pids = append(pids, os.Getpid())
	}
	if record != nil {
		pids = append(pids, record.Helper.PID)
	}
	for _, p := range k.named.Keepers {
		pids = append(pids, p.PID)
	}
	slices.Sort(pids)
	return slices.Compact(pids)
}

// hasMoved reports whether the record is another than at the last look.
func (k *looker) hasMoved(record *owner.Record) bool {
	before := k.record
	if k.record = ""; record != nil {
		k.record = record.ID
	}
	return k.record != before
}

// pause is until the wait is twice as long.
func (k *looker) pause(now, least time.Duration) time.Duration { return max(now-k.began, least) }

// spread is a random pause. If as many wait as it is told, and each looks only after such a pause,
// their looks leave most of a processor to others.
func (k *looker) spread(waiting int) time.Duration {
	return rand.N(1 + time.Duration(waiting*k.lock.eyes.tasks())*perTask)
}

// next is how long to wait for the next look.
func (k *looker) next() time.Duration { return max(0, k.due-k.clock.Now()) }
