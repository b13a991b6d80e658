package backend

import (
	"fmt"
	"time"

	"locksmith/protocol"
)

// What a server may send as one listing, whoever runs it: MaxNames names, MaxBytes bytes, for
// MaxTime. A lock has some hundred names.
const (
	MaxNames = 100_000
	MaxBytes = 16 << 20
	MaxTime  = time.Minute
)

// A TooLongError says in what a listing goes on for too long.
type TooLongError string

func (e TooLongError) Error() string { return "too much is in the directory: " + string(e) }

// TooLong is the error of a call that got a listing which goes on for too long. To ask again
// would not help.
func (n Name) TooLong(op string, err TooLongError) error {
	return n.Failure(protocol.CannotCreate, op, err, "keep the lock in a directory with less in it, on a server that can be trusted")
}

// A Haul is what one listing has brought so far. The zero Haul is that of a walk through many:
// each has its own time.
type Haul struct {
	names, bytes int
	begun        time.Time
}

// NewHaul begins a listing.
func NewHaul() *Haul { return &Haul{begun: time.Now()} }

// Take adds what has come. After its error, a TooLongError, nothing more is to be read or
// kept.
func (h *Haul) Take(names, bytes int) error {
	h.names, h.bytes = h.names+names, h.bytes+bytes
	switch {
	case h.names > MaxNames:
		return TooLongError(fmt.Sprintf("more than %d names", MaxNames))
	case h.bytes > MaxBytes:
		return TooLongError(fmt.Sprintf("more than %d bytes", MaxBytes))
	case !h.begun.IsZero() && time.Since(h.begun) > MaxTime:
		return TooLongError(fmt.Sprintf("it does not end within %v", MaxTime))
	}
	return nil
}
