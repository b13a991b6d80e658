//go:build unix

package generation

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
)

// A success is kept as a symbolic link d.<N>-<id> in Reservations, whose target is the
// record of the holder that had generation N. Its age is told by the times of the server:
// it is compared with a link that was made just now, d.0-<id>. Locksmiths that know nothing
// of successes leave them alone, and refuse to remove the lock.

const successPrefix = "d."

type success struct {
	number uint64 // 0: it only shows the time
	id     string
}

func (s success) path() string {
	return fmt.Sprintf("%s/%s%d-%s", Reservations, successPrefix, s.number, s.id)
}

// parseSuccess reads a name in Reservations.
func parseSuccess(name string) (success, bool) {
	rest, ok := strings.CutPrefix(name, successPrefix)
	digits, id, _ := strings.Cut(rest, "-")
	n, err := strconv.ParseUint(digits, 10, 64)
	s := success{n, id}
	return s, ok && err == nil && owner.IsID(id) && s.path() == Reservations+"/"+name
}

// newestSuccess returns the one with the greatest number up to most, 0 if there is none. A
// number that no holder can have had yet is that of a lock which was removed since.
func newestSuccess(names []string, most uint64) (newest success) {
	for _, name := range names {
		if s, ok := parseSuccess(name); ok && s.number > newest.number && s.number <= most {
			newest = s
		}
	}
	return newest
}

var _ backend.SuccessKeeper = (*Lock)(nil)

// LastSuccess implements backend.SuccessKeeper. The link that shows the time also makes this
// host read the directory anew (see probe).
func (*Lock) LastSuccess(_ context.Context, held backend.Hold) (*backend.Success, error) {
	h := held.(*hold)
	l := h.claim.lock
	probe := success{0, h.ID()}.path()
	made := l.Dir.Symlink("now", probe)
	defer func() { _ = l.Dir.Unlink(probe) }() // what is left is removed after the next success
	now, err := l.Dir.Look(probe)
	if err != nil {
		return nil, l.Fail("find out the server's time", errors.Join(made, err))
	}
	names, err := l.names(Reservations)
	if err != nil {
		return nil, l.Fail("look for the last success", err)
	}
	last := newestSuccess(names, h.number)
	if last.number == 0 {
		return nil, nil
	}
	seen, err := l.Dir.Look(last.path())
	if err != nil {
		return nil, l.Fail("look at the last success", err)
	}
	return &backend.Success{Ago: now.Modified.Sub(seen.Modified), Host: l.hostOf(last)}, nil
}

func (l *Lock) hostOf(s success) string {
	text, err := l.Dir.Readlink(s.path())
	if err != nil {
		return ""
	}
	r, _ := owner.ParseRecord(text + "\n")
	return r.Place.Host
}

// RecordSuccess implements backend.SuccessKeeper. A request that arrives late makes a link
// with a number that counts no longer.
func (*Lock) RecordSuccess(ctx context.Context, held backend.Hold) error {
	h := held.(*hold)
	l := h.claim.lock
	if err := h.Heartbeat(ctx); err != nil {
		return err
	}
	const op = "record the success"
	record, err := l.Dir.Readlink(h.claim.ticket.record())
	if err != nil {
		return l.Fail(op, err)
	}
	ours := success{h.number, h.ID()}
	if err := l.Dir.Symlink(record, ours.path()); err != nil {
		if _, unseen := l.Dir.Look(ours.path()); unseen != nil {
			return l.Fail(op, err)
		}
	}
	_ = l.forgetSuccesses(ours) // it is on record; the next one tries again
	return nil
}

// forgetSuccesses removes all but one, and those of later holders: whoever was stopped for long
// may come after them. What has a number that no holder has had goes, too.
func (l *Lock) forgetSuccesses(but success) error {
	names, err := l.names(Reservations)
	if absent(err) {
		return nil
	}
	if err != nil {
		return l.Fail("list reservations", err)
	}
	newest := but.number
	if newestSuccess(names, maxGeneration).number > newest && newest > 0 {
		if newest, err = l.newest(); err != nil {
			return err
		}
	}
	for _, name := range names {
		if s, ok := parseSuccess(name); ok && s != but && (s.number <= but.number || s.number > newest) {
			if err := l.Dir.Unlink(s.path()); err != nil && !absent(err) {
				return l.Fail("remove an older success", err)
			}
		}
	}
	return nil
}

// success sees the last one, for people.
func (i *inspection) success(names []string) {
	last := newestSuccess(names, i.report.Token)
	if last.number == 0 {
		return
	}
	if seen, err := i.lock.Dir.Look(last.path()); err == nil {
		i.report.Success = &backend.Success{Ago: i.lock.Today().Sub(seen.Modified), Host: i.lock.hostOf(last)}
	}
}
