package backend

import (
	"errors"
	"slices"
	"time"
)

// An Examination says how thorough to be.
type Examination struct {
	Idle   time.Duration // how long to leave a connection idle, to see whether it is closed
	Rounds int           // how often many create the same object at a time, in an object store
	// Progress, if not nil, is told again and again how far a long check is.
	Progress func(text string)
}

// A Check is one thing that was found out about a place.
type Check struct {
	Name    string // of what was looked at, as in "exclusive create"
	Finding Finding
	Text    string // what was seen
	Advice  string // what to do about it; empty if it is fit
}

// A Finding is the outcome of a check.
type Finding string

// The findings.
const (
	Fit     Finding = "fit"
	Unknown Finding = "unknown" // could not be found out
	Weak    Finding = "weak"    // locks work, but see the advice
	Unfit   Finding = "unfit"   // locks there are not safe, or not possible
)

// Verdict sums up the checks of a place: the worst of them. What could not be
// found out does not count beside what was.
func Verdict(checks []Check) Finding {
	for _, f := range []Finding{Unfit, Weak, Fit} {
		if slices.ContainsFunc(checks, func(c Check) bool { return c.Finding == f }) {
			return f
		}
	}
	return Unknown
}

// A Tell is told of one check after the other.
type Tell func(Check)

// Fit tells of a check that went well.
func (t Tell) Fit(name, text string) { t(Check{Name: name, Finding: Fit, Text: text}) }

// Unknown tells of a check that could not be made.
func (t Tell) Unknown(name, text, advice string) { t(Check{name, Unknown, text, advice}) }

// Weak tells of what does not keep locks from working.
func (t Tell) Weak(name, text, advice string) { t(Check{name, Weak, text, advice}) }

// Unfit tells of what does.
func (t Tell) Unfit(name, text, advice string) { t(Check{name, Unfit, text, advice}) }

// Reason is an error for the text of a check: without the address and the advice,
// which are told beside it.
func Reason(err error) string {
	var e *Error
	if errors.As(err, &e) {
		err = e.Err
	}
	return err.Error()
}
