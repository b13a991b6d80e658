package mkdirlock

import (
	"context"
	"path"

	"locksmith/backends/backend"
)

// Reap implements backend.Reaper: the address is that of a directory of locks.
//
// What has an entry is removed as by any breaker: by its id. It must have been
// silent for the age that was asked for and for its whole lease, by the server's
// own times, and for a quarter of its lease while we watch. An empty lock of
// plain style has no id. It is removed by its name, which hits somebody else's if
// that one came in the very moment between.
func (l *Lock) Reap(ctx context.Context, r backend.Reaping) ([]backend.Reaped, error) {
	if _, err := path.Match(r.Names, ""); err != nil {
		return nil, l.usage("reap", "the pattern "+shown(r.Names)+" is malformed", "write for example *.lock")
	}
	dir, ok := l.NewDir().(Timed)
	if !ok {
		return nil, l.usage("reap", "this place does not tell times", "break single locks instead: locksmith break")
	}
	defer dir.Close()
	p := reaper{lock: l, dir: dir, reaping: r}
	if err := p.look(ctx); err != nil {
		return nil, err
	}
	if r.Remove {
		if err := p.watch(ctx); err != nil {
			return nil, err
		}
		for i := range p.found {
			p.remove(ctx, &p.found[i])
		}
	}
	var all []backend.Reaped
	for _, f := range p.found {
		all = append(all, f.Reaped)
	}
	return all, nil
}

var _ backend.Reaper = (*Lock)(nil)
