//go:build unix

package generation

import (
	"context"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// Break ends an acquisition, as backend.Backend has it. It removes what carries the id, and nothing
// else; the holder learns it at its next heartbeat.
func (l *Lock) Break(_ context.Context, id string) error {
	names, err := l.look(Reservations)
	if err != nil && !absent(err) {
		return l.Fail("list reservations", err)
	}
	removed := false
	for _, name := range names {
		e, ok := parseEntry(name)
		if !ok {
			continue
		}
		found, err := l.breakIn(e, id)
		if err != nil {
			return l.Fail("break "+id, err)
		}
		removed = removed || found
	}
	if !removed {
		return &backend.Error{Code: protocol.Gone, Lock: l.Address, Op: "break " + shown(id), Err: backend.ErrGone,
			Hint: "see who is there with: locksmith status"}
	}
	return nil
}

// breakIn removes what has the id in one reservation.
func (l *Lock) breakIn(e entry, id string) (found bool, err error) {
	tickets := []ticket{e.ticket}
	if e.kind != exclusive {
		names, err := l.names(e.path())
		if err != nil && !absent(err) {
			return false, err
		}
		tickets = nil
		for _, name := range names {
			if t, ok := parseTicket(name); ok {
				tickets = append(tickets, t)
			}
		}
	}
	for _, t := range tickets {
		if t.id != id {
			continue
		}
		err := l.remove(e, t)
		if err != nil {
			return false, ignoreAbsent(err)
		}
		return true, ignoreAbsent(l.Dir.Unlink(t.record()))
	}
	return false, nil
}

func ignoreAbsent(err error) error {
	if absent(err) {
		return nil
	}
	return err
}
