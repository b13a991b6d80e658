//go:build unix

package link

import (
	"context"
	"errors"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// Inspect implements backend.Backend.
func (l *Lock) Inspect(context.Context) (backend.Report, error) {
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

// inspect looks at the lock and at those of these names that are its claims.
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
		if !ok || holder.content.Holds(id) {
			continue
		}
		if s, err := w.see(name); err == nil && s.content.Holds(id) {
			r.Waiters = append(r.Waiters, s.Holder(l.Today()))
		}
	}
	return r, nil
}

// described also tells what to call a holder who has no id of his own.
func (l *Lock) described(s observation) backend.Holder {
	h := s.Holder(l.Today())
	if s.content.Record == nil && s.stat.Kind == "" {
		h.Note += "; its id for locksmith break is " + s.id()
	}
	return h
}

// NewestToken implements backend.Backend.
func (l *Lock) NewestToken(context.Context) (uint64, error) { return 0, backend.ErrNoTokens }

// Break implements backend.Backend. It does not ask whether the holder is dead, but
// takes its turn with those who do. A holder without a record has the id that
// Inspect tells of.
func (l *Lock) Break(ctx context.Context, id string) error {
	fs := l.NewFS()
	defer fs.Close()
	w := l.newWatcher(fs, backend.Request{Clock: clock.Boot{}, Owner: owner.Record{Lease: usualLease}})
	s, err := w.see(l.Name)
	switch {
	case err == nil && s.id() == id && s.stat.Kind == "":
		return l.breakHolder(w, s)
	case err != nil && !errors.Is(err, errAbsent):
		return err
	}
	return l.breakWaiter(w, id)
}

// breakWaiter removes the claim with this id.
func (l *Lock) breakWaiter(w watcher, id string) error {
	if !owner.IsID(id) {
		return l.noSuch(id)
	}
	err := w.fs.Unlink(l.claimName(id))
	switch {
	case absent(err):
		return l.noSuch(id)
	case err != nil:
		return l.fail("break "+backend.Quoted(id), err)
	}
	return nil
}

func (l *Lock) breakHolder(w watcher, s observation) error {
	c, err := l.newClaim(w.fs, l.Self())
	if err != nil {
		return err
	}
	k := chain{lock: l, fs: w.fs, others: w, claim: c, dead: s, force: true}
	defer k.clear()
	if err := c.make(); err != nil {
		return err
	}
	rival, err := k.run()
	switch {
	case rival != nil:
		return &backend.Error{Code: protocol.Held, Lock: string(l.Address), Op: "break " + backend.Quoted(s.id()),
			Err: errors.New("somebody else is at it: " + rival.Holder(l.Today()).String()), Hint: "look again with: locksmith status"}
	case errors.Is(err, backend.ErrAgain):
		return l.noSuch(s.id())
	case errors.Is(err, errSticky):
		return &backend.Error{Code: protocol.Permission, Lock: string(l.Address), Op: "break " + backend.Quoted(s.id()), Err: err,
			Hint: "the directory is sticky: let its owner do it, or root"}
	}
	return err
}

func (l *Lock) noSuch(id string) error {
	return l.Address.Gone("break "+backend.Quoted(id), "see who is there with: locksmith status")
}
