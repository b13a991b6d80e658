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
	since uint64        // the newest generation when the wish arose
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
	if t.lease < owner.MinLease || !validID(t.id) || t.String() != s {
		return ticket{}, false
	}
	return t, true
}

// validID accepts lower-case hexadecimal digits, as many as owner.NewID makes.
func validID(s string) bool {
	return len(s) == 32 && strings.Trim(s, "0123456789abcdef") == ""
}

// compare orders the queue. The generation goes first, because the clocks of two
// hosts may be an hour apart.
func (t ticket) compare(u ticket) int {
	return cmp.Or(cmp.Compare(t.since, u.since), cmp.Compare(t.at, u.at), cmp.Compare(t.id, u.id))
}
