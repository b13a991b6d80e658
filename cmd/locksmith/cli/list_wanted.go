package cli

import (
	"errors"
	"fmt"

	"locksmith/protocol"
)

// A listing is one run of list.
type listing struct {
	reach
	conditions    []condition
	mode          string
	held, waiting bool
	asJSON        bool
	depth         count
}

func (l *listing) prepare(where []string) error {
	for _, text := range where {
		c, err := parseCondition(text)
		if err != nil {
			return usageError{err}
		}
		l.conditions = append(l.conditions, c)
	}
	switch l.mode {
	case "":
	case "shared", "exclusive":
		l.conditions = append(l.conditions, condition{"mode", "=", l.mode})
	default:
		return usageError{fmt.Errorf("--mode is %q: it may be shared or exclusive", protocol.CleanText(l.mode, 100))}
	}
	if l.depth == 0 {
		return usageError{errors.New("--depth is 0: 1 is what is directly in the place")}
	}
	return nil
}

// all reports that nothing was said of who is wanted.
func (l *listing) all() bool {
	return len(l.conditions) == 0 && !l.held && !l.waiting
}

// wants reports that somebody is to be shown. The token is the lock's.
func (l *listing) wants(p presence, token uint64) bool {
	if (l.held || l.waiting) && !(p.waits && l.waiting || !p.waits && l.held) {
		return false
	}
	for _, c := range l.conditions {
		if !c.matches(p, token) {
			return false
		}
	}
	return true
}
