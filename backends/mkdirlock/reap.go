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

// Reap is for finder.Search: the address is that of a directory of locks.
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
	here, above, _ := l.above()
	return l.Address.Usage("reap", why, "name the directory that locks are in, without ?style=dir: for the lock "+here+" it is "+above)
}

// above returns the lock's address, and that of the directory in which it is, both without the options.
func (l *Lock) above() (here, above, options string) {
	here, options, _ = strings.Cut(string(l.Address), "?")
	return here, here[:max(strings.LastIndexByte(here, '/'), 0)], options
}

// nobody describes a lock without an entry, and says how to remove an empty one. doubt: that may be ours.
func (l *Lock) nobody(names []string, doubt bool) backend.Holder {
	h := labels.Nobody(names, doubt)
	if len(names) == 0 {
		_, place, options := l.above()
		if place += "/"; options != "" {
			place += "?" + options
		}
		name := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path.Base(l.Name))
		h.Advice += " --max-age 6h --yes --name " + backend.ShellWord(name) + " " + backend.ShellWord(place)
	}
	return h
}
