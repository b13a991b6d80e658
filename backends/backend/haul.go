package backend

import (
	"fmt"
	"strings"
	"time"

	"locksmith/protocol"
)

// The limits of what a server may send as one listing, for it may be anybody's server: MaxNames
// names, MaxBytes bytes, for MaxTime. A lock has some hundred names.
const (
	MaxNames = 100_000
	MaxBytes = 16 << 20
	MaxTime  = time.Minute
)

// A TooLongError says which limit a listing exceeds.
type TooLongError string

func (e TooLongError) Error() string { return "too much is in the directory: " + string(e) }

// TooLong returns the error of a call whose listing exceeded a limit. To call again would not help.
func (n Name) TooLong(op string, err TooLongError) error {
	return n.Failure(protocol.CannotCreate, op, err, "keep the lock in a directory with less in it, on a server that can be trusted")
}

// MaxShown is how many locks of one place are shown. The two do not count together, so a flood of
// foreign files hides no lock with a record.
func MaxShown() Quota { return Quota{Known: MaxNames, Foreign: MaxNames / 10} }

// A LeftOutError says how many locks were left out of a list because there were more than Most.
type LeftOutError struct{ Most, Left Quota }

func (e *LeftOutError) Error() string {
	var all []string
	if e.Left.Foreign > 0 {
		all = append(all, fmt.Sprintf("more than %d locks without a record of ours (left out: %d)", e.Most.Foreign, e.Left.Foreign))
	}
	if e.Left.Known > 0 {
		all = append(all, fmt.Sprintf("more than %d locks with a record (left out: %d)", e.Most.Known, e.Left.Known))
	}
	return TooLongError(strings.Join(all, ", and ")).Error()
}

// LeftOut returns the error of a list of this place that is not complete.
func (n Name) LeftOut(err *LeftOutError) error {
	return n.Failure(protocol.CannotCreate, "list the directory", err, "keep locks in a directory with less in it; for one lock: locksmith status")
}

// A Haul counts what one listing has brought so far. The zero Haul counts for a walk through many
// directories. It does not limit the time, because each listing has its own.
type Haul struct {
	names, bytes int
	took         time.Duration
	last         time.Time // when something came last; zero: the time is not limited
}

// maxGap is how much of the time between two calls of Take counts. Servers have less time for an
// answer. If more has passed, this process was stopped, for which the server is not to blame.
const maxGap = 15 * time.Second

// NewHaul returns the Haul of a listing that begins now.
func NewHaul() *Haul { return &Haul{last: time.Now()} }

// Take adds what has come. Its error is a TooLongError: then the caller must neither read nor keep
// any more.
func (h *Haul) Take(names, bytes int) error {
	h.names, h.bytes = h.names+names, h.bytes+bytes
	if !h.last.IsZero() {
		now := time.Now()
		h.took, h.last = h.took+min(now.Sub(h.last), maxGap), now
	}
	switch {
	case h.names > MaxNames:
		return TooLongError(fmt.Sprintf("more than %d names", MaxNames))
	case h.bytes > MaxBytes:
		return TooLongError(fmt.Sprintf("more than %d bytes", MaxBytes))
	case h.took > MaxTime:
		return TooLongError(fmt.Sprintf("it does not end within %v", MaxTime))
	}
	return nil
}
