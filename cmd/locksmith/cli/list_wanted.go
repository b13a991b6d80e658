package cli

import (
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/protocol"
)

// A listing is one run of list.
type listing struct {
	flags.Connect
	conditions    []condition
	mode          string
	held, waiting bool
	asJSON        bool
	depth         flags.Count
}

func (l *listing) prepare(where []string) error {
	for _, text := range where {
		c, err := parseCondition(text)
		if err != nil {
			return flags.Usage(err)
		}
		l.conditions = append(l.conditions, c)
	}
	switch l.mode {
	case "":
	case "shared", "exclusive":
		l.conditions = append(l.conditions, condition{"mode", "=", l.mode})
	default:
		return flags.Usagef("--mode is %q: it may be shared or exclusive", protocol.CleanText(l.mode, 100))
	}
	if l.depth == 0 {
		return flags.Usagef("--depth is 0: 1 is what is directly in the place")
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
