//go:build unix

package symlinks

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"locksmith/backends/owner"
)

// A ticket names one acquisition attempt, and its place in the queue. It is part of the name of
// all that the attempt creates, and never used twice.
type ticket struct {
	since uint64        // the newest generation when the attempt began
	at    int64         // when it arose by its own host's clock, in microseconds since 1970, not negative; orders those that arose in one generation
	lease time.Duration // whole ms; here, and not only in the record, because a name is never torn or missing
	id    string        // owner.NewID
}

func (t ticket) String() string {
	return fmt.Sprintf("%d-%d-%d-%s", t.since, t.at, t.lease.Milliseconds(), t.id)
}

// parseTicket reads what String wrote, and nothing else. A queue of thousands is read as
// often as somebody joins it, so it makes no copy.
func parseTicket(s string) (ticket, bool) {
	first, rest, _ := strings.Cut(s, "-")
	second, rest, _ := strings.Cut(rest, "-")
	third, id, _ := strings.Cut(rest, "-")
	since, ok1 := parseNumber(first, math.MaxUint64)
	at, ok2 := parseNumber(second, math.MaxInt64)
	ms, ok3 := parseNumber(third, uint64(owner.MaxLease.Milliseconds()))
	t := ticket{since: since, at: int64(at), lease: time.Duration(ms) * time.Millisecond, id: id}
	if !ok1 || !ok2 || !ok3 || t.lease < owner.MinLease || !owner.IsID(id) {
		return ticket{}, false
	}
	return t, true
}

// parseNumber reads a number as strconv writes it, up to most.
func parseNumber(s string, most uint64) (uint64, bool) {
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil && n <= most && (s[0] != '0' || s == "0")
}

// compare orders the queue. The generation counts before the time, because the clocks of two
// hosts may be an hour apart.
func (t ticket) compare(u ticket) int {
	return cmp.Or(cmp.Compare(t.since, u.since), cmp.Compare(t.at, u.at), cmp.Compare(t.id, u.id))
}

// A kind is the first letter of a reservation's name.
type kind string

const (
	exclusive kind = "x"
	shared    kind = "s"
	staging   kind = "t"
)

const (
	lockPrefix   = "lock."
	recordPrefix = "i."
	probePrefix  = "p."
	linkPrefix   = "../" + Reservations + "/"
)

// An entry is a directory in Reservations.
type entry struct {
	kind   kind
	ticket ticket
}

func (e entry) path() string { return Reservations + "/" + string(e.kind) + "." + e.ticket.String() }

// member is the directory of one member in a shared directory, or in one that
// is in the making.
func (e entry) member(t ticket) string { return e.path() + "/" + t.String() }

// link is what a generation points to.
func (e entry) link() string { return "../" + e.path() }

// own is the directory whose time is the heartbeat of the entry's maker.
func (e entry) own() string { return e.of(e.ticket) }

// of is what a ticket has there.
func (e entry) of(t ticket) string {
	if e.kind == exclusive {
		return e.path()
	}
	return e.member(t)
}

// HasMembers reports whether a name is that of a directory in which others make
// and remove what is theirs. It must be open to all who may write to the lock
// directory, as must Generations and Reservations.
func HasMembers(name string) bool {
	e, ok := parseEntry(strings.TrimPrefix(name, Reservations+"/"))
	return ok && e.kind == staging
}

// reservationOf is the reservation that a path leads to or into.
func reservationOf(path string) string {
	parts := strings.SplitN(path, "/", 3)
	return strings.Join(parts[:min(len(parts), 2)], "/")
}

func (t ticket) record() string { return Reservations + "/" + recordPrefix + t.String() }
func (t ticket) probe() string  { return Generations + "/" + probePrefix + t.String() }

// parseEntry reads a name in Reservations.
func parseEntry(name string) (entry, bool) {
	k, rest, _ := strings.Cut(name, ".")
	e := entry{kind: kind(k)}
	if e.kind != exclusive && e.kind != shared && e.kind != staging {
		return e, false
	}
	t, ok := parseTicket(rest)
	e.ticket = t
	return e, ok
}

// parseLink reads what a generation points to.
func parseLink(target string) (entry, bool) {
	name, ok := strings.CutPrefix(target, linkPrefix)
	if !ok {
		return entry{}, false
	}
	e, ok := parseEntry(name)
	return e, ok && e.kind != staging
}

// parseRecordName reads the name of a record in Reservations.
func parseRecordName(name string) (ticket, bool) {
	rest, ok := strings.CutPrefix(name, recordPrefix)
	if !ok {
		return ticket{}, false
	}
	return parseTicket(rest)
}

func lockName(n uint64) string {
	return Generations + "/" + lockPrefix + strconv.FormatUint(n, 10)
}

func parseLockName(name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, lockPrefix)
	n, valid := parseNumber(digits, math.MaxUint64)
	return n, ok && valid && n > 0
}
