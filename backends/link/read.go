//go:build unix

package link

import (
	"context"
	"errors"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
)

// Read implements backend.Backend.
func (l *Lock) Read(context.Context) (backend.Report, error) {
	var r backend.Report
	if l.Check != nil {
		if err := l.Check(); err != nil {
			return r, err
		}
	}
	fs := l.NewFS()
	defer fs.Close()
	names, err := fs.List()
	if err != nil {
		return r, l.fail("list the directory of the lock", err)
	}
	return l.inspect(fs, names)
}

// inspect looks at the lock, and at those of these names that are its claims.
func (l *Lock) inspect(fs FS, names []string) (backend.Report, error) {
	var r backend.Report
	w := l.newWatcher(fs, backend.Request{Clock: clock.Boot{}})
	holder, err := w.see(l.Name)
	switch {
	case err == nil:
		r.Holders = append(r.Holders, l.described(holder))
	case !errors.Is(err, errAbsent):
		return r, err
	}
	for _, name := range names {
		id, ok := l.parseClaim(name)
		if !ok || holder.Of.content.Holds(id) {
			continue
		}
		if s, err := w.see(name); err == nil && s.Of.content.Holds(id) {
			r.Waiters = append(r.Waiters, s.Holder(l.Today()))
		}
	}
	return r, nil
}

// described is a holder for people, with something to call it by if it has no id of its own.
func (l *Lock) described(s observation) backend.Holder {
	h := s.Holder(l.Today())
	if s.Of.content.Record == nil && s.Of.stat.Kind == "" {
		h.Note += "; its id for locksmith break is " + s.Of.id()
	}
	return h
}

// NewestToken implements backend.Backend.
func (l *Lock) NewestToken(context.Context) (uint64, error) { return 0, backend.ErrNoTokens }
