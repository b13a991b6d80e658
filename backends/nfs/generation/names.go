//go:build unix

package generation

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"locksmith/backends/owner"
)

// A ticket names one acquisition attempt, and its place in the queue. It is
// part of the name of all that the attempt creates, and never used twice.
type ticket struct {
	since uint64        // the newest generation when the attempt began
	at    int64         // when it arose by its own host's clock, in microseconds since 1970, not negative; orders those that arose in one generation
	lease time.Duration // whole ms; here, and not only in the record, because a name is never torn or missing
	id    string        // owner.NewID
}

func (t ticket) String() string {
	return fmt.Sprintf("%d-%d-%d-%s", t.since, t.at, t.lease.Milliseconds(), t.id)
}

// parseTicket reads what String wrote, and nothing else.
func parseTicket(s string) (ticket, bool) {
	parts := strings.Split(s, "-")
	if len(parts) != 4 {
		return ticket{}, false
	}
	since, err1 := strconv.ParseUint(parts[0], 10, 64)
	at, err2 := strconv.ParseInt(parts[1], 10, 64)
	ms, err3 := strconv.ParseInt(parts[2], 10, 64)
	if err1 != nil || err2 != nil || err3 != nil || at < 0 || ms > owner.MaxLease.Milliseconds() {
		return ticket{}, false
	}
	t := ticket{since: since, at: at, lease: time.Duration(ms) * time.Millisecond, id: parts[3]}
	if t.lease < owner.MinLease || !owner.IsID(t.id) || t.String() != s {
		return ticket{}, false
	}
	return t, true
}

// compare orders the queue. The generation counts before the time, because the clocks of
// two hosts may be an hour apart.
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
func (e entry) own() string {
	if e.kind == exclusive {
		return e.path()
	}
	return e.member(e.ticket)
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
	t, ok := parseTicket(rest)
	e := entry{kind(k), t}
	return e, ok && (e.kind == exclusive || e.kind == shared || e.kind == staging)
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

// maxGeneration leaves room to count on; no helper ever makes a larger number.
const maxGeneration = 1 << 60

func parseLockName(name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, lockPrefix)
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, ok && err == nil && n > 0 && strconv.FormatUint(n, 10) == digits
}
