package events

import (
	"slices"
	"sort"
)

// mixed is the mode of a set whose locks have different ones.
const mixed = "mixed"

// maxMore is far more than any set has.
const maxMore = 1 << 20

func (e *Event) isSet() bool { return len(e.Locks)+e.More > 1 }

// ModeOf returns the mode of the i-th of Locks.
func (e *Event) ModeOf(i int) string {
	if e.Mode == mixed {
		return e.Modes[i]
	}
	return e.Mode
}

// TokenOf returns the fencing token of the i-th of Locks; 0: it has none.
func (e *Event) TokenOf(i int) uint64 {
	if e.Tokens != nil {
		return e.Tokens[i]
	}
	return e.Token
}

// checkSet refuses what no helper says about the locks of a set.
func (e *Event) checkSet() error {
	switch {
	case e.More < 0 || e.More > maxMore:
		return malformed("more is %d", e.More)
	case e.Lock != "" && e.More == 0 && !slices.Contains(e.Locks, e.Lock):
		return malformed("lock is none of locks")
	case e.Mode != mixed && !isMode(e.Mode):
		return malformed("mode %.40q is not exclusive, shared or mixed", e.Mode)
	case (e.Mode == mixed) != (e.Modes != nil):
		return malformed("modes belong to mixed")
	case e.Modes != nil && len(e.Modes) != len(e.Locks), e.Tokens != nil && len(e.Tokens) != len(e.Locks):
		return malformed("modes or tokens are not as many as locks")
	case slices.ContainsFunc(e.Modes, func(m string) bool { return !isMode(m) }):
		return malformed("one of modes is not exclusive or shared")
	case e.Token != 0 && e.isSet(), !e.isSet() && (e.Modes != nil || e.Tokens != nil):
		return malformed("one lock has mode and token, a set modes and tokens")
	}
	return nil
}

func isMode(text string) bool { return text == "exclusive" || text == "shared" }

// shortened is what of a set's event fits into a line: without id, with as many locks
// as possible.
func (e Event) shortened() Event {
	e.ID = ""
	n := sort.Search(len(e.Locks), func(n int) bool {
		line, _ := e.first(n + 1).line()
		return len(line) > MaxLine
	})
	return e.first(max(n, 1))
}

// first is the event with the first locks only.
func (e Event) first(n int) Event {
	e.More += len(e.Locks) - n
	e.Locks = e.Locks[:n]
	if e.Modes != nil {
		e.Modes = e.Modes[:n]
	}
	if e.Tokens != nil {
		e.Tokens = e.Tokens[:n]
	}
	return e
}
