package backend

import (
	"errors"
	"slices"
)

// Verdict sums up the checks of a place: it is the worst of their findings. Unknown does not count
// beside any other finding.
func Verdict(checks []Check) Finding {
	for _, f := range []Finding{Unfit, Weak, Fit} {
		if slices.ContainsFunc(checks, func(c Check) bool { return c.Finding == f }) {
			return f
		}
	}
	return Unknown
}

// Fit tells of a check that went well.
func (t Tell) Fit(name, text string) { t(Check{Name: name, Finding: Fit, Text: text}) }

// Unknown tells of a check that could not be made.
func (t Tell) Unknown(name, text, advice string) { t(Check{name, Unknown, text, advice}) }

// Weak tells of a flaw with which locks work.
func (t Tell) Weak(name, text, advice string) { t(Check{name, Weak, text, advice}) }

// Unfit tells of a flaw with which they do not.
func (t Tell) Unfit(name, text, advice string) { t(Check{name, Unfit, text, advice}) }

// Refusal tells of an error of a call that every lock there makes, too.
func (t Tell) Refusal(name string, err error) {
	if e, ok := errors.AsType[*Error](err); ok {
		t.Unfit(name, e.Op+": "+e.Err.Error(), e.Hint)
		return
	}
	t.Unfit(name, err.Error(), "choose another place")
}

// Reason returns the cause of an error for the text of a check. It leaves out the address and the
// advice, because these are told beside the text.
func Reason(err error) string {
	var e *Error
	if errors.As(err, &e) {
		err = e.Err
	}
	return err.Error()
}
