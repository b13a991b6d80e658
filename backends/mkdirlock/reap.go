package mkdirlock

import (
	"context"
	"path"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
)

// Reap implements backend.Reaper: the address is that of a directory of locks.
//
// What has an entry is removed as by any breaker: by its id. Its owner is proven dead;
// or it must have been silent for the age that was asked for and for its whole lease, by
// the server's own times, and for a quarter of its lease while we watch. An empty lock of
// plain style has no id. It is removed by its name, at most a moment after it was
// seen to be the same as before; who makes one of that name in this moment is hit.
func (l *Lock) Reap(ctx context.Context, r backend.Reaping) ([]backend.Reaped, error) {
	if err := l.checkReaping(r); err != nil {
		return nil, err
	}
	dir, ok := l.NewDir().(Timed)
	if !ok {
		return nil, l.usage("reap", "this place does not tell times", "break single locks instead: locksmith break")
	}
	defer dir.Close()
	if r.Clock == nil {
		r.Clock = clock.Boot{}
	}
	p := reaper{lock: l, dir: dir, reaping: r}
	err := p.look(ctx)
	if err == nil && r.Remove {
		err = p.removeDue(ctx)
	}
	if err != nil {
		p.breakOff()
	}
	var all []backend.Reaped
	for _, f := range p.found {
		all = append(all, f.Reaped)
	}
	return all, err
}

var _ backend.Reaper = (*Lock)(nil)

func (l *Lock) checkReaping(r backend.Reaping) error {
	if _, err := path.Match(r.Names, ""); err != nil {
		return l.usage("reap", "the pattern "+shown(r.Names)+" is malformed", "write for example *.lock")
	}
	if l.Style == TreeStyle {
		return l.noPlace("an address with ?style=dir is that of a lock, not of a directory of locks")
	}
	return nil
}

// noPlace refuses an address that is that of a lock. To reap in there would take
// its fencing tokens for empty locks, and they would start again.
func (l *Lock) noPlace(why string) error {
	here, _, _ := strings.Cut(l.Address, "?")
	above := here[:max(strings.LastIndexByte(here, '/'), 0)]
	return l.usage("reap", why, "PLACE must be the directory that holds the locks, without ?style=dir: for the lock "+here+" it is "+above)
}
