//go:build unix

package symlinks

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
	"locksmith/backends/owner"
	"locksmith/backends/success"
)

// A success is kept as a symbolic link d.<N>-<id> in Reservations, whose target is the
// record of the holder that had generation N. Its age is told by the times of the server:
// it is compared with a link that was made just now, d.0-<id>. Locksmiths that know nothing
// of successes leave them alone, and refuse to remove the lock.

const successPrefix = "d."

// successPath is where that of generation n is. Number 0 only shows the time.
func successPath(n uint64, id string) string {
	return fmt.Sprintf("%s/%s%d-%s", Reservations, successPrefix, n, id)
}

// parseSuccess reads a name in Reservations.
func parseSuccess(name string) (m success.Mark, ok bool) {
	rest, ok := strings.CutPrefix(name, successPrefix)
	digits, id, _ := strings.Cut(rest, "-")
	n, err := strconv.ParseUint(digits, 10, 64)
	m = success.Mark{Name: successPath(n, id), Number: n}
	return m, ok && err == nil && owner.IsID(id) && m.Name == Reservations+"/"+name
}

// successesIn are those among the names in Reservations. No holder had more than most.
func successesIn(names []string, most uint64) (all []success.Mark) {
	for _, name := range names {
		if m, ok := parseSuccess(name); ok {
			m.Void = m.Number > most
			all = append(all, m)
		}
	}
	return all
}

// successes are those of a lock.
type successes struct {
	lock *Lock
	hold *hold // ours; nil: for whoever only reads or removes them
}

// List implements success.Store.
func (s successes) List(ctx context.Context) ([]success.Mark, error) {
	names, err := s.lock.names(ctx, Reservations)
	if absent(err) || err == nil && s.hold == nil {
		return successesIn(names, generation.Max), nil
	}
	if err != nil {
		return nil, s.lock.Fail("list reservations", err)
	}
	most := s.hold.Number
	if success.Newest(successesIn(names, generation.Max)).Number > most {
		if most, err = s.lock.newest(ctx); err != nil {
			return nil, err
		}
	}
	return successesIn(names, most), nil
}

// Read implements success.Store.
func (s successes) Read(ctx context.Context, m *success.Mark) error {
	seen, err := s.lock.Dir.Look(ctx, m.Name)
	if err != nil {
		return s.lock.Fail("look at the last success", err)
	}
	m.At = seen.Modified
	if text, err := s.lock.Dir.Readlink(ctx, m.Name); err == nil {
		r, _ := owner.ParseRecord(text + "\n")
		m.Host = r.Place.Host
	}
	return nil
}

// Write implements success.Store.
func (s successes) Write(ctx context.Context, n uint64) (success.Mark, error) {
	const op = "record the success"
	m := success.Mark{Name: successPath(n, s.hold.ID()), Number: n}
	record, err := s.lock.Dir.Readlink(ctx, s.hold.claim.ticket.record())
	if err != nil {
		return m, s.lock.Fail(op, err)
	}
	if err := s.lock.Dir.Symlink(ctx, record, m.Name); err != nil {
		if _, unseen := s.lock.Dir.Look(ctx, m.Name); unseen != nil {
			return m, s.lock.Fail(op, err)
		}
	}
	return m, nil
}

// Remove implements success.Store.
func (s successes) Remove(ctx context.Context, m success.Mark) error {
	if err := s.lock.Dir.Unlink(ctx, m.Name); err != nil && !absent(err) {
		return s.lock.Fail("remove an older success", err)
	}
	return nil
}

var _ backend.SuccessKeeper = (*Lock)(nil)

// LastSuccess implements backend.SuccessKeeper. The link that shows the time also makes this
// host read the directory anew (see probe).
func (*Lock) LastSuccess(ctx context.Context, held backend.Hold) (*backend.Success, error) {
	h := held.(*hold)
	l := h.claim.lock
	probe := successPath(0, h.ID())
	made := l.Dir.Symlink(ctx, "now", probe)
	defer func() { _ = l.Dir.Unlink(ctx, probe) }() // what is left is removed after the next success
	now, err := l.Dir.Look(ctx, probe)
	if err != nil {
		return nil, l.Fail("find out the server's time", errors.Join(made, err))
	}
	return success.Last(ctx, successes{l, h}, now.Modified)
}

// RecordSuccess implements backend.SuccessKeeper.
func (*Lock) RecordSuccess(ctx context.Context, held backend.Hold) error {
	h := held.(*hold)
	if err := h.Heartbeat(ctx); err != nil {
		return err
	}
	return success.Record(ctx, successes{h.claim.lock, h}, h.Number)
}
