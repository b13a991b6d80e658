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

// A looker finds out, for one that waits, who has the lock. The more processes and waiters there
// are, the more a look costs, and /proc/locks stops all locking on the machine while the kernel
// writes it. If every waiter of a crowd looked at everything, the lock would hardly change hands. So
// a look takes these steps until one of them names a holder:
//
//	step     it looks at                                        taken
//	known    the process on record, those that it named last,   always
//	         and at the first look this process itself
//	takers   /proc/locks, and the processes that took the lock  when it is due, and at the second look
//	all      all processes                                      after takers, in the same look if few wait;
//	                                                            if many wait, in the next that is due,
//	                                                            and only if the same took the lock
//
// If the record or the takers change meanwhile, the lock goes from hand to hand, and whoever has it
// now is not worth a search. If all that it named have let the lock go, it begins anew.
type looker struct {
	lock      *Lock
	read      func() *owner.Record // returns the record in the file, if there is one
	here      owner.Place
	clock     clock.Clock
	usual     time.Duration // after a look that named a holder it pauses for this at least, after the first look for this at most
	began     time.Duration // when the lock was first refused, or all that it named had let it go
	looks     int           // so far
	due       time.Duration // when it may take the steps after known
	named     flocks.Seen   // who has the lock, by the last look that told
	record    string        // the id on record, at the last look
	takers    []int         // who took the lock, by a look at /proc/locks that left the step all to the next one
	hasTakers bool          // takers counts
}

// Eyes are the ways to look, each of which costs more than the one before. Tests replace them, and
// count the looks.
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
	// nextLook is for how long a waiter that has found a holder looks only at those that it knows.
	// After a minute "locksmith run" tells that it still waits. By then the waiter has looked again.
	nextLook = 45 * time.Second
	// few is how many waiters may look at all processes at the same time.
	few = 8
	// perTask is about what a look costs for each task of the machine.
	perTask = 50 * time.Microsecond
)

func newLooker(l *Lock, r backend.Request) looker {
	k := looker{lock: l, read: l.record, here: r.Owner.Place, clock: r.Clock, usual: nextLook}
	if r.Timeout != backend.NoLimit {
		k.usual = min(k.usual, r.Timeout/2)
	}
	return k
}

// holder is the first of those that have the lock, as far as that is known.
func (k *looker) holder() backend.Holder {
	record := k.read()
	k.look(k.clock.Now(), record)
	return k.lock.refuser(k.named, record, k.here)
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
			k.due = now + k.pause(now, k.usual)
		}
	case k.looks == 1, len(k.named.Keepers) > 0:
		k.began = now
		k.forget(now, min(firstLook+k.spread(few), k.usual))
	case now < k.due && k.looks != 2: // the second look does not wait until due: if the number of tries is limited, it may be the last
	case moved:
		k.forget(now, k.pause(now, firstLook)+k.spread(few))
	default:
		k.search(now)
	}
}

// search looks at /proc/locks, and perhaps at all processes.
func (k *looker) search(now time.Duration) {
	seen, err := k.lock.eyes.takers(k.lock.path)
	waiting := seen.Crowd
	switch isNew := !k.hasTakers || !slices.Equal(seen.Takers, k.takers); {
	case err != nil:
		k.forget(now, k.pause(now, firstLook))
		return
	case len(seen.Keepers) > 0 || seen.Unnamed:
		k.named, k.due, k.hasTakers = seen, now+k.pause(now, k.usual), false
		return
	case waiting > few && isNew:
		k.forget(now, k.pause(now, firstLook)+k.spread(waiting))
		k.takers, k.hasTakers = seen.Takers, true
		return
	}
	all, err := k.lock.eyes.all(k.lock.path)
	if err != nil || len(all.Keepers) == 0 && !(all.Held() && slices.Equal(all.Takers, seen.Takers)) {
		k.forget(now, k.pause(now, firstLook)+k.spread(max(waiting, few)))
		return
	}
	k.named, k.due = all, now+k.pause(now, k.usual)+k.spread(waiting)
}

// forget forgets what it knew of who has the lock: by now that may be anybody. The next look beyond
// known is due after the pause.
func (k *looker) forget(now, pause time.Duration) {
	k.named, k.due, k.hasTakers = flocks.Seen{}, now+pause, false
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

// pause returns the time since began, so that the next look is due when that has doubled; but least
// at least.
func (k *looker) pause(now, least time.Duration) time.Duration { return max(now-k.began, least) }

// spread returns a random pause. If that many processes wait, and each looks once after such a
// pause, about one of them looks at a time.
func (k *looker) spread(waiting int) time.Duration {
	return rand.N(1 + time.Duration(waiting*k.lock.eyes.tasks())*perTask)
}

// next is how long to wait for the next look.
func (k *looker) next() time.Duration { return max(0, k.due-k.clock.Now()) }
