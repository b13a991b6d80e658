package request

import (
	"fmt"
	"strings"
	"time"

	"locksmith/backends"
	"locksmith/backends/backend"
	"locksmith/backends/choice"
	"locksmith/backends/member"
	"locksmith/backends/set"
	"locksmith/locksmith"
	"locksmith/protocol"
)

// What may stand before a lock, with a colon, to say its mode.
const (
	sharedMode    = "shared"
	exclusiveMode = "exclusive"
)

// cutMode takes the mode off the front of a lock; empty: none is given.
func cutMode(lock string) (mode, rest string) {
	mode, rest, ok := strings.Cut(lock, ":")
	if ok && (mode == sharedMode || mode == exclusiveMode) {
		return mode, rest
	}
	return "", lock
}

// forSet makes one helper of the helpers that each lock alone would have. The set has the
// shortest of their timeouts, of their leases and of their longest holds. If any lock will do,
// the helper is for one of them, with the same times.
func forSet(kinds backends.Kinds, each []*locksmith.Helper, anyWillDo bool) (*locksmith.Helper, error) {
	h := *each[0]
	h.Locks = nil
	var locks []member.Lock
	for _, one := range each {
		h.Locks = append(h.Locks, locksmith.Lock{Address: one.Address, Mode: one.Request.Owner.Mode})
		h.Timeout = sooner(h.Timeout, one.Timeout)
		h.Tries = fewer(h.Tries, one.Tries)
		h.Refresh = fewer(h.Refresh, one.Refresh)
		h.Request.Owner.Lease = min(h.Request.Owner.Lease, one.Request.Owner.Lease)
		h.Request.Owner.MaxHold = fewer(h.Request.Owner.MaxHold, one.Request.Owner.MaxHold)
		if h.Request.Owner.Mode != one.Request.Owner.Mode {
			h.Request.Owner.Mode = "mixed"
		}
		locks = append(locks, member.Lock{Address: one.Address, Locker: one.Locker,
			Key: func() string { return kinds.Key(one.Address) }, OneName: kinds.Leaseless(one.Address),
			Ask: func(r backend.Request) backend.Request { return particular(r, one.Request) }})
	}
	h.Remember = func() {
		for _, one := range each {
			if one.Remember != nil {
				one.Remember()
			}
		}
	}
	var err error
	if anyWillDo {
		h.Address = describeSet(h.Locks, " | ")
		h.Locker, err = choice.New(locks)
	} else {
		h.Address = describeSet(h.Locks, " + ")
		h.Locker, err = set.New(locks)
	}
	return &h, err
}

// particular is the request of a set, with what is one lock's own.
func particular(r, own backend.Request) backend.Request {
	r.Owner.Mode, r.Owner.Meta = own.Owner.Mode, own.Owner.Meta
	r.Strict, r.Grace, r.Polls, r.Memory = own.Strict, own.Grace, own.Polls, own.Memory
	return r
}

// sooner is the shorter of two timeouts.
func sooner(a, b time.Duration) time.Duration {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

// fewer is the smaller of two numbers; 0 is no limit.
func fewer[T int | time.Duration](a, b T) T {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// shownLocks is how many locks of a set are named where a person reads it.
const shownLocks = 3

// describeSet names a set for people.
func describeSet(locks []locksmith.Lock, between string) string {
	var shown []string
	for _, l := range locks[:min(len(locks), shownLocks)] {
		shown = append(shown, l.Address)
	}
	if len(locks) > shownLocks {
		shown[shownLocks-1] = fmt.Sprintf("%d more", len(locks)-shownLocks+1)
	}
	return protocol.CleanText(strings.Join(shown, between), 300)
}
