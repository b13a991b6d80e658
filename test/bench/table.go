package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A figure is what was measured of locksmith.
type figure struct {
	name   string
	format string // of its values
	ours   float64
}

// An opponent is one rival's value of a figure.
type opponent struct {
	rival  rival
	theirs float64
	goal   goal
}

// A goal is what a comparison should come to. The zero goal is none.
type goal struct {
	text string
	met  func(ours, ratio float64) bool
}

func atMost(most float64) goal {
	return goal{fmt.Sprintf("≤ %gx", most), func(_, ratio float64) bool { return ratio <= most }}
}

func atLeast(least float64) goal {
	return goal{fmt.Sprintf("≥ %gx", least), func(_, ratio float64) bool { return ratio >= least }}
}

// absolutely is a goal for the figure itself, whatever rivals do.
func absolutely(most float64) goal {
	return goal{fmt.Sprintf("≤ %g", most), func(ours, _ float64) bool { return ours <= most }}
}

// noLessThan is a goal for the figure itself, whatever rivals do.
func noLessThan(least float64) goal {
	return goal{fmt.Sprintf("≥ %g", least), func(ours, _ float64) bool { return ours >= least }}
}

// A table is a Markdown table that is aligned for reading as it is.
type table struct{ rows [][]string }

var head = []string{"figure", "locksmith", "compared with", "theirs", "ratio", "goal", "met"}

func (t *table) add(f figure, o opponent) {
	theirs, ratio := fmt.Sprintf(f.format, o.theirs), "-"
	switch {
	case o.rival.missing:
		theirs = "not installed"
	case o.theirs > 0:
		ratio = fmt.Sprintf("%.2fx", f.ours/o.theirs)
	}
	t.rows = append(t.rows, []string{f.name, fmt.Sprintf(f.format, f.ours), o.rival.name, theirs, ratio, orDash(o.goal.text), o.verdict(f)})
}

func (o opponent) verdict(f figure) string {
	switch {
	case o.goal.met == nil:
		return "-"
	case o.goal.met(f.ours, f.ours/o.theirs):
		return "yes"
	}
	return "no"
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func (t *table) print(out io.Writer) error {
	widths := make([]int, len(head))
	for _, row := range append([][]string{head}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	rule := make([]string, len(head))
	for i, w := range widths {
		rule[i] = strings.Repeat("-", w)
	}
	var b strings.Builder
	for _, row := range append([][]string{head, rule}, t.rows...) {
		for i, cell := range row {
			fmt.Fprintf(&b, "| %-*s ", widths[i], cell)
		}
		b.WriteString("|\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}
