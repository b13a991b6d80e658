//go:build unix

package symlinks

import (
	"context"
	"errors"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
	"locksmith/backends/owner"
	"locksmith/backends/success"
	"locksmith/backends/tokens"
)

// A success is a symbolic link d.<N>-<id> in Reservations, whose target is the record of the
// holder of generation N. Its age is the difference of two times of the server: the link's, and
// that of a link that was made just now, d.0-<id>. Locksmiths that do not know successes leave
// them alone, and refuse to remove the lock.

var successNames = generation.SuccessNames{Prefix: "d."}

// successesIn are the successes among the names in Reservations. No holder had more than most.
func successesIn(names []string, most uint64) (all []success.Mark) {
	for _, name := range names {
		if m, ok := successNames.Parse(name); ok {
			m.Void = m.Number > most
			all = append(all, m)
		}
	}
	return all
}

// successes are the successes of a lock.
type successes struct {
	generation.Successes
	lock *Lock
	hold *hold  // ours; nil: we only read or remove them
	user uint32 // who we are in the place, if anybody asks
}

func (l *Lock) successes(h *hold) successes {
	s := successes{generation.Successes{Texts: texts{l}, Names: successNames}, l, h, 0}
	if h != nil {
		s.By = h.Mine.Own()
	}
	return s
}

// List implements success.Store.
func (s successes) List(ctx context.Context) ([]success.Mark, error) {
	names, err := s.lock.names(ctx, Reservations)
	if absent(err) || err == nil && s.hold == nil {
		return successesIn(names, tokens.Max), nil
	}
	if err != nil {
		return nil, s.lock.Fail("list reservations", err)
	}
	most := s.hold.Number
	if success.Newest(successesIn(names, tokens.Max)).Number > most {
		if most, err = s.lock.newest(ctx); err != nil {
			return nil, err
		}
	}
	return successesIn(names, most), nil
}

// Read implements success.Store.
func (s successes) Read(ctx context.Context, m *success.Mark) error {
	seen, err := s.lock.Dir.Look(ctx, Reservations+"/"+m.Name)
	if err != nil {
		return s.lock.Fail("look at the last success", err)
	}
	m.At, m.By = seen.Modified, owner.Stranger(seen.User, s.user, s.lock.OwnUsers)
	return s.Successes.Read(ctx, m)
}

var _ backend.SuccessKeeper = (*Lock)(nil)

// LastSuccess implements backend.SuccessKeeper. The link that shows the time, and who we are there,
// also makes this host read the directory anew (see probe).
func (*Lock) LastSuccess(ctx context.Context, held backend.Hold) (*backend.Success, error) {
	h := held.(*hold)
	l := h.Mine.lock
	probe := Reservations + "/" + successNames.Of(0, h.ID()) // number 0 only shows the time
	made := l.Dir.Symlink(ctx, "now", probe)
	defer func() { _ = l.Dir.Unlink(ctx, probe) }() // the next success removes what is left
	now, err := l.Dir.Look(ctx, probe)
	if err != nil {
		return nil, l.Fail("find out the server's time", errors.Join(made, err))
	}
	s := l.successes(h)
	s.user = now.User
	return success.Last(ctx, s, now.Modified)
}

// RecordSuccess implements backend.SuccessKeeper.
func (*Lock) RecordSuccess(ctx context.Context, held backend.Hold) error {
	h := held.(*hold)
	if err := h.Heartbeat(ctx); err != nil {
		return err
	}
	return success.Record(ctx, h.Mine.lock.successes(h), h.Number)
}
