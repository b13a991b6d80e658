package timeline

import (
	"slices"
	"time"

	"locksmith/locksmith/events"
)

// An ending says how others ended a hold while its process went on: the lock was broken, or
// somebody else got it.
type ending struct {
	at     time.Time
	by     *moment
	broken bool // by says that the lock was broken; else only that by's process got the lock
}

// endByOthers looks at each part that was held and not released by its process, and finds how
// others ended the hold, if they did. Otherwise its bar would stand beside its heir's bar, as if
// both had held the lock.
func endByOthers(all []*process) {
	broken, byLock := breaks(all), map[string]group{}
	for _, g := range groups(all) {
		byLock[g.lock] = g
	}
	for _, p := range all {
		for i, f := range p.parts {
			p.parts[i].over = f.endedIn(byLock[f.lock()], broken)
		}
	}
}

// breaks returns, for each broken holder by its id, the first event that tells of the break.
func breaks(all []*process) map[string]*moment {
	broken := map[string]*moment{}
	for _, p := range all {
		for _, m := range slices.Concat(p.all(events.Broke), p.all(events.Broken)) {
			if m.Holder == nil || m.Holder.ID == "" {
				continue
			}
			if first := broken[m.Holder.ID]; first == nil || m.at.Before(first.at) {
				broken[m.Holder.ID] = m
			}
		}
	}
	return broken
}

// endedIn looks for the end of a hold in the group of its lock. nil: no end by others is known,
// or the process told its own end first.
func (f part) endedIn(g group, broken map[string]*moment) *ending {
	from, held := f.held()
	if !held || f.last().Kind == events.Released {
		return nil
	}
	var found *ending
	if m := broken[f.id]; m != nil && f.id != "" {
		found = &ending{m.at, m, true}
	}
	if heir := f.heir(g); heir != nil && (found == nil || heir.at.Before(found.at)) {
		found = &ending{heir.at, heir, found != nil}
	}
	if found == nil || f.isOver() && !found.at.Before(f.last().at) {
		return nil
	}
	if found.at.Before(from) { // possible with the calendar of another host
		found.at = from
	}
	return found
}

// heir is the event by which the first process after f got the lock, unless both may share it.
func (f part) heir(g group) *moment {
	var first *moment
	for _, other := range g.rows {
		m, known := other.acquired()
		if known && other.process != f.process && !f.sharesWith(other) && other.isAfter(f) && (first == nil || m.at.Before(first.at)) {
			first = m
		}
	}
	return first
}

func (f part) sharesWith(other part) bool { return f.mode == "shared" && other.mode == "shared" }

// isAfter reports whether f got the lock after other. It goes by their tokens if both have one.
func (f part) isAfter(other part) bool {
	if f.token != 0 && other.token != 0 {
		return f.token > other.token
	}
	from, _ := f.held()
	otherFrom, _ := other.held()
	return from.After(otherFrom)
}
