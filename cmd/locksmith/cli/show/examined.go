package show

import (
	"fmt"
	"io"
	"strings"

	"locksmith/backends/backend"
)

// An Examined is a place that doctor has looked at.
type Examined struct {
	Place   string          `json:"place"`
	Verdict backend.Finding `json:"verdict"` // the worst of the findings; unknown if the examination did not end
	Checks  []check         `json:"checks"`
	Error   string          `json:"error,omitempty"` // why it did not end
	seen    []backend.Check
	people  io.Writer
}

type check struct {
	Name    string          `json:"name"`
	Finding backend.Finding `json:"finding"` // fit, unknown, weak or unfit
	Text    string          `json:"text"`
	Advice  string          `json:"advice,omitempty"`
}

// NewExamined is a place before its examination. It tells people of the checks.
func NewExamined(place string, people io.Writer) *Examined {
	return &Examined{Place: place, Checks: []check{}, people: people}
}

// Tell is a backend.Tell.
func (e *Examined) Tell(c backend.Check) {
	c.Text, c.Advice = Text(c.Text), Text(c.Advice)
	e.seen = append(e.seen, c)
	e.Checks = append(e.Checks, check(c))
	// As wide as the longest finding and the longest usual name.
	fmt.Fprintf(e.people, "%-7s %-24s %s\n", c.Finding, c.Name, c.Text)
	if c.Advice != "" {
		fmt.Fprintf(e.people, "%-7s %s\n", "", c.Advice)
	}
}

// Conclude settles and tells the verdict. err is why the examination did not end. That a place
// is unfit counts more than what else went wrong there.
func (e *Examined) Conclude(err error) {
	e.Verdict = backend.Verdict(e.seen)
	if err != nil {
		e.Error = err.Error()
		if e.Verdict != backend.Unfit {
			e.Verdict = backend.Unknown
		}
	}
	fmt.Fprintf(e.people, "%s: %s\n", Text(e.Place), e.sentence())
}

func (e *Examined) sentence() string {
	text := ""
	switch e.Verdict {
	case backend.Unfit:
		return "not fit for locks: see " + e.which(backend.Unfit)
	case backend.Weak:
		text = "fit for locks, but with weak points: see " + e.which(backend.Weak)
	case backend.Fit:
		text = "fit for locks"
	default:
		return "it could not be found out whether it is fit for locks"
	}
	if unknown := e.which(backend.Unknown); unknown != "" {
		text += "; not known: " + unknown
	}
	return text
}

// which names the checks with a finding.
func (e *Examined) which(f backend.Finding) string {
	var names []string
	for _, c := range e.seen {
		if c.Finding == f {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, ", ")
}
