package mkdirlock

import (
	"context"
	"path"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/examine"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/mkdirlock/reap"
)

// Reap implements backend.Reaper: the address is that of a directory of locks.
func (l *Lock) Reap(ctx context.Context, r backend.Reaping) ([]backend.Reaped, error) {
	if err := l.checkReaping(r); err != nil {
		return nil, err
	}
	dir, ok := l.NewDir().(dirs.StatDir)
	if !ok {
		return nil, l.Address.Usage("reap", "this place does not tell times", "break single locks instead: locksmith break")
	}
	defer dir.Close()
	return reap.Place{
		Env: l.Env, Dir: dir, Name: l.Name, Address: l.Address, Disk: l.disk(dir), Fail: l.fail, NoPlace: l.noPlace,
		Missing: dirTree{l, dir}.missing, Seen: l.seen,
		Clear: func(ctx context.Context, name string) error { return examine.Clear(ctx, dir, name) },
		Break: func(ctx context.Context, at string, e labels.Entry, inside []string, then func() error) error {
			pin, err := l.pin(ctx, dir, at)
			if err != nil {
				return err
			}
			defer dirs.Unpin(pin)
			if err := l.removeEntry(ctx, dir, at, e.String(), inside); err != nil {
				return err
			}
			return then()
		},
	}.Reap(ctx, r)
}

var _ backend.Reaper = (*Lock)(nil)

func (l *Lock) checkReaping(r backend.Reaping) error {
	if _, err := path.Match(r.Names, ""); err != nil {
		return l.Address.Usage("reap", "the pattern "+backend.Quoted(r.Names)+" is malformed", "write for example *.lock")
	}
	if l.Style == DirStyle {
		return l.noPlace("an address with ?style=dir is that of a lock, not of a directory of locks")
	}
	return nil
}

// noPlace refuses the address of a lock. Reaping inside a lock would take its fencing tokens for
// empty locks and remove them, and tokens would count from the start again.
func (l *Lock) noPlace(why string) error {
	here, _, _ := strings.Cut(string(l.Address), "?")
	above := here[:max(strings.LastIndexByte(here, '/'), 0)]
	return l.Address.Usage("reap", why, "name the directory that locks are in, without ?style=dir: for the lock "+here+" it is "+above)
}
