package mkdirlock

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"locksmith/backends/owner"
)

// A ticket names one acquisition attempt. It is part of the name of all that the
// attempt creates, and never used twice.
type ticket struct {
	lease time.Duration // whole ms; here, and not only in the record, because it must never be missing
	id    string        // owner.NewID
}

func (t ticket) String() string { return fmt.Sprintf("%d-%s", t.lease.Milliseconds(), t.id) }

// parseTicket reads what String wrote, and nothing else.
func parseTicket(s string) (ticket, bool) {
	digits, id, _ := strings.Cut(s, "-")
	ms, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || ms > owner.MaxLease.Milliseconds() {
		return ticket{}, false
	}
	t := ticket{lease: time.Duration(ms) * time.Millisecond, id: id}
	ok := t.lease >= owner.MinLease && owner.IsID(id) && t.String() == s
	return t, ok
}

// A kind is the first letter of an entry's name.
type kind string

const (
	exclusive kind = "x"
	shared    kind = "s"
)

// An entry is a directory in the lock that says that somebody holds it. Its name
// never changes. In it is a heartbeat.
type entry struct {
	kind   kind
	ticket ticket
}

func (e entry) String() string { return string(e.kind) + "." + e.ticket.String() }

func parseEntry(name string) (entry, bool) {
	k, rest, _ := strings.Cut(name, ".")
	t, ok := parseTicket(rest)
	return entry{kind(k), t}, ok && (k == string(exclusive) || k == string(shared))
}

func entriesIn(names []string) []entry {
	var all []entry
	for _, name := range names {
		if e, ok := parseEntry(name); ok {
			all = append(all, e)
		}
	}
	return all
}

const (
	reservationPrefix = "r."
	fencePrefix       = "fence."
	treeLock          = "lock"
)

// lock is the directory that holds the entries.
func (l *Lock) lock() string {
	if l.Style == TreeStyle {
		return l.Name + "/" + treeLock
	}
	return l.Name
}

// around is the directory in which the reservations are, and how their names
// begin there.
func (l *Lock) around() (dir, prefix string) {
	if l.Style == TreeStyle {
		return l.Name, reservationPrefix
	}
	return ".", l.Name + "." + reservationPrefix
}

// reservation is a directory that is going to replace the lock's.
func (l *Lock) reservation(t ticket) string {
	dir, prefix := l.around()
	if dir == "." {
		return prefix + t.String()
	}
	return dir + "/" + prefix + t.String()
}

// parseReservation reads a name in the directory around.
func (l *Lock) parseReservation(name string) (ticket, bool) {
	_, prefix := l.around()
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return ticket{}, false
	}
	return parseTicket(rest)
}

// reservationsIn are those among the names in the directory around.
func (l *Lock) reservationsIn(names []string) []ticket {
	var all []ticket
	for _, name := range names {
		if t, ok := l.parseReservation(name); ok {
			all = append(all, t)
		}
	}
	return all
}

// lockOfReservation returns the plain lock that a reservation is for.
func lockOfReservation(name string) (lock string, ok bool) {
	i := strings.LastIndex(name, "."+reservationPrefix)
	if i < 1 {
		return "", false
	}
	_, ok = parseTicket(name[i+1+len(reservationPrefix):])
	return name[:i], ok
}

// maxToken leaves room to count on; no helper ever makes a larger number.
const maxToken = 1 << 60

func fenceName(n uint64) string { return fencePrefix + strconv.FormatUint(n, 10) }

func parseFence(name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, fencePrefix)
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, ok && err == nil && n > 0 && n < maxToken && strconv.FormatUint(n, 10) == digits
}
