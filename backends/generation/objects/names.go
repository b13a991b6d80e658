package objects

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"locksmith/backends/owner"
)

// A ticket names one acquisition attempt. It is part of the keys of all that the attempt makes,
// except its generation, and never used twice.
type ticket struct {
	at    int64         // when it arose by its own host's clock, in microseconds since 1970, not negative
	lease time.Duration // whole ms; here, and not only in the record, because a key is never wrong
	id    string        // owner.NewID
}

func (t ticket) String() string {
	return fmt.Sprintf("%020d-%d-%s", t.at, t.lease.Milliseconds(), t.id)
}

func (t ticket) reservation() string { return reservationPrefix + t.String() }
func (t ticket) beat() string        { return beatPrefix + t.String() }
func (t ticket) trial() string       { return trialPrefix + t.String() }

// parseTicket reads what String wrote, and nothing else.
func parseTicket(s string) (ticket, bool) {
	parts := strings.Split(s, "-")
	if len(parts) != 3 {
		return ticket{}, false
	}
	at, err := strconv.ParseInt(parts[0], 10, 64)
	lease, ok := owner.ParseLease(parts[1])
	if err != nil || at < 0 || !ok {
		return ticket{}, false
	}
	t := ticket{at, lease, parts[2]}
	return t, owner.IsID(t.id) && t.String() == s
}

const (
	generationPrefix  = "g."
	reservationPrefix = "r."
	beatPrefix        = "b."
	successPrefix     = "s."
	trialPrefix       = "x." // nobody ever makes one (attempt.mayRemove)
)

// generationKey is the key of a generation. All have the same length, so that stores list them
// in order.
func generationKey(n uint64) string { return fmt.Sprintf("%s%020d", generationPrefix, n) }

func parseGeneration(key string) (uint64, bool) {
	digits, ok := strings.CutPrefix(key, generationPrefix)
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, ok && err == nil && n > 0 && generationKey(n) == key
}

// IsPart reports whether a key is one that locks have, so that what is before it is the
// lock's own prefix.
func IsPart(key string) bool {
	prefix, rest, _ := strings.Cut(key, ".")
	_, isGeneration := parseGeneration(key)
	_, isTicket := parseTicket(rest)
	return isGeneration || isTicket && (prefix+"." == reservationPrefix || prefix+"." == beatPrefix)
}
