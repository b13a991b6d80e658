// Package labels is the names in locks of directories. They say whose a lock is, in which mode,
// with which token and record, and what has happened. There is nothing but names to say it in.
package labels

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/owner"
	"locksmith/backends/tokens"
)

// A Ticket names one acquisition attempt. It is part of the name of all that the
// attempt creates, and never used twice.
type Ticket struct {
	Lease time.Duration // whole ms; here, and not only in the record, because it must never be missing
	ID    string        // owner.NewID
}

func (t Ticket) String() string { return fmt.Sprintf("%d-%s", t.Lease.Milliseconds(), t.ID) }

// ParseTicket reads what String wrote, and nothing else.
func ParseTicket(s string) (Ticket, bool) {
	digits, id, _ := strings.Cut(s, "-")
	lease, ok := owner.ParseLease(digits)
	if !ok {
		return Ticket{}, false
	}
	t := Ticket{Lease: lease, ID: id}
	return t, owner.IsID(id) && t.String() == s
}

// A Kind is the first letter of an entry's name.
type Kind string

const (
	Exclusive Kind = "x"
	Shared    Kind = "s"
)

// An Entry is a directory in the lock that says that somebody holds it. Its name
// never changes. In it is a heartbeat.
type Entry struct {
	Kind   Kind
	Ticket Ticket
}

func (e Entry) String() string { return string(e.Kind) + "." + e.Ticket.String() }

// ParseEntry reads what String wrote, and nothing else.
func ParseEntry(name string) (Entry, bool) {
	k, rest, _ := strings.Cut(name, ".")
	t, ok := ParseTicket(rest)
	return Entry{Kind(k), t}, ok && (k == string(Exclusive) || k == string(Shared))
}

// EntriesIn returns the entries among some names.
func EntriesIn(names []string) []Entry {
	var all []Entry
	for _, name := range names {
		if e, ok := ParseEntry(name); ok {
			all = append(all, e)
		}
	}
	return all
}

const (
	ReservationPrefix = "r."
	FencePrefix       = "fence."
	LockName          = "lock"    // in dir style
	ProbePrefix       = "probe."  // of who asks for the time of the place
	ScratchPrefix     = "doctor." // of doctor
)

// LockOfReservation returns the plain lock that a reservation is for.
func LockOfReservation(name string) (lock string, ok bool) {
	i := strings.LastIndex(name, "."+ReservationPrefix)
	if i < 1 {
		return "", false
	}
	_, ok = ParseTicket(name[i+1+len(ReservationPrefix):])
	return name[:i], ok
}

// FenceName is the name that keeps a token.
func FenceName(n uint64) string { return FencePrefix + strconv.FormatUint(n, 10) }

// ParseFence reads what FenceName wrote, and nothing else.
func ParseFence(name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, FencePrefix)
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, ok && err == nil && n > 0 && n < tokens.Max && strconv.FormatUint(n, 10) == digits
}

// IsFence reports whether a name keeps a token.
func IsFence(name string) bool {
	_, ok := ParseFence(name)
	return ok
}

// FencesIn returns the tokens among some names, in ascending order.
func FencesIn(names []string) tokens.Numbers {
	var all tokens.Numbers
	for _, name := range names {
		if n, ok := ParseFence(name); ok {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

// IsOurs reports that a locksmith gave this name, which is in a directory that is a lock or a
// part of one.
func IsOurs(name string) bool {
	_, isEntry := ParseEntry(name)
	return isEntry || IsDirStyle(dirs.Entry{Name: name}) || IsScratch(name)
}

// IsDirStyle reports that an entry is part of a lock in dir style.
func IsDirStyle(e dirs.Entry) bool {
	_, reservation := ParseTicket(strings.TrimPrefix(e.Name, ReservationPrefix))
	return e.Name == LockName || IsFence(e.Name) || IsSlip(e.Name) || reservation && strings.HasPrefix(e.Name, ReservationPrefix)
}

// IsScratch reports that a directory was made to ask for the time, or by doctor.
func IsScratch(name string) bool {
	for _, prefix := range []string{ProbePrefix, ScratchPrefix} {
		if id, ok := strings.CutPrefix(name, prefix); ok && owner.IsID(id) {
			return true
		}
	}
	return false
}

// Nobody describes a lock without an entry. doubt: an empty one may be ours.
func Nobody(names []string, doubt bool) backend.Holder {
	h := backend.Holder{Verdict: owner.Unknown}
	switch {
	case len(FencesIn(names)) > 0 || slices.Contains(names, LockName):
		h.Note, h.Advice = "it is a lock with ?style=dir", "add ?style=dir to the address"
		h.Blocked = true
	case len(names) > 0:
		h.Note, h.Advice = "what is in it is not ours, such as "+backend.Quoted(names[0]), "choose another name, or find out whose it is"
		h.Blocked = true
	case doubt:
		h.Note = "an empty directory, perhaps our own: the answer to our request was lost"
		h.Advice = "if nobody uses the lock, remove it with locksmith reap"
	default:
		h.Note = "an empty directory: the lock of a program that uses mkdir alone, or what is left of one"
		h.Advice = "by age it can be removed with locksmith reap"
	}
	return h
}
