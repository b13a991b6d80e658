package cli

import (
	"fmt"
	"io"
	"strings"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// placeExamined is one place in doctor --json.
type placeExamined struct {
	Place   string          `json:"place"`
	Verdict backend.Finding `json:"verdict"` // the worst of the findings; unknown if the examination did not come to its end
	Checks  []placeCheck    `json:"checks"`
	Error   string          `json:"error,omitempty"` // why it did not
	seen    []backend.Check
	out     io.Writer // for people
}

type placeCheck struct {
	Name    string          `json:"name"`
	Finding backend.Finding `json:"finding"` // fit, unknown, weak or unfit
	Text    string          `json:"text"`
	Advice  string          `json:"advice,omitempty"`
}

// add is a backend.Tell.
func (p *placeExamined) add(c backend.Check) {
	c.Text, c.Advice = protocol.CleanText(c.Text, protocol.MaxLine), protocol.CleanText(c.Advice, protocol.MaxLine)
	p.seen = append(p.seen, c)
	p.Checks = append(p.Checks, placeCheck(c))
	// As wide as the longest finding and the longest usual name.
	fmt.Fprintf(p.out, "%-7s %-24s %s\n", c.Finding, c.Name, c.Text)
	if c.Advice != "" {
		fmt.Fprintf(p.out, "%-7s %s\n", "", c.Advice)
	}
}

// conclude prints the verdict.
func (p *placeExamined) conclude() {
	fmt.Fprintf(p.out, "%s: %s\n", protocol.CleanText(p.Place, protocol.MaxLine), p.sentence())
}

func (p *placeExamined) sentence() string {
	text := ""
	switch p.Verdict {
	case backend.Unfit:
		return "not fit for locks: see " + p.which(backend.Unfit)
	case backend.Weak:
		text = "fit for locks, but with weak points: see " + p.which(backend.Weak)
	case backend.Fit:
		text = "fit for locks"
	default:
		return "it could not be found out whether it is fit for locks"
	}
	if unknown := p.which(backend.Unknown); unknown != "" {
		text += "; not known: " + unknown
	}
	return text
}

// which names the checks with a finding.
func (p *placeExamined) which(f backend.Finding) string {
	var names []string
	for _, c := range p.seen {
		if c.Finding == f {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, ", ")
}
