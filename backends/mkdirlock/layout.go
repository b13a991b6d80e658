package mkdirlock

import (
	"strings"

	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/owner"
)

// lock is the directory that holds the entries.
func (l *Lock) lock() string {
	if l.Style == DirStyle {
		return l.Name + "/" + labels.LockName
	}
	return l.Name
}

// around is the directory in which the reservations are, and how their names
// begin there.
func (l *Lock) around() (dir, prefix string) {
	if l.Style == DirStyle {
		return l.Name, labels.ReservationPrefix
	}
	return ".", l.Name + "." + labels.ReservationPrefix
}

// reservation is the path of a directory that is to replace the lock's.
func (l *Lock) reservation(t labels.Ticket) string {
	dir, prefix := l.around()
	if dir == "." {
		return prefix + t.String()
	}
	return dir + "/" + prefix + t.String()
}

// parseReservation reads a name in the directory around.
func (l *Lock) parseReservation(name string) (labels.Ticket, bool) {
	_, prefix := l.around()
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return labels.Ticket{}, false
	}
	return labels.ParseTicket(rest)
}

// probe is the ticket of a directory that is made for a moment beside a lock in dir style, to change a
// listing or to be told the time. Others take it for an empty reservation and nothing else.
func (l *Lock) probe() labels.Ticket { return labels.Ticket{Lease: owner.MinLease, ID: l.NewID()} }

// reservationsIn returns the tickets of the reservations among these names in the directory
// around.
func (l *Lock) reservationsIn(names []string) []labels.Ticket {
	var all []labels.Ticket
	for _, name := range names {
		if t, ok := l.parseReservation(name); ok {
			all = append(all, t)
		}
	}
	return all
}
