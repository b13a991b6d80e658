package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

// A row is one value of a figure.
type row struct {
	figure, who, value string
	local, nfs         string // ratios of ours to it
	goal, met          string
}

var head = row{"figure", "of", "value", "local:", "nfs:", "goal", "met"}

func (r row) cells() []string {
	return []string{r.figure, r.who, r.value, r.local, r.nfs, r.goal, r.met}
}

// A table is a Markdown table that is aligned for reading as it is.
type table struct{ rows []row }

// An entry is what a figure is of somebody.
type entry struct {
	rival
	value float64
	goal  goal
}

// medians adds a figure with everybody's median.
func (t *table) medians(figure, format string, rivals []rival, values samples, g goals) {
	t.percentile(50, figure, format, rivals, values, g)
}

func (t *table) percentile(p float64, figure, format string, rivals []rival, values samples, g goals) {
	var all []entry
	for _, r := range rivals {
		all = append(all, entry{r, percentile(values[r.name], p), g[r.name]})
	}
	t.add(figure, format, all)
}

// alone adds a figure's rows without ratios.
func (t *table) alone(figure, format string, all []entry) {
	for _, e := range all {
		t.rows = append(t.rows, e.row(figure, format, math.NaN(), math.NaN()))
	}
}

// add adds a figure's rows.
func (t *table) add(figure, format string, all []entry) {
	ours := map[string]float64{localName: math.NaN(), nfsName: math.NaN()}
	for _, e := range all {
		if e.isBase() {
			ours[e.name] = e.value
		}
	}
	for _, e := range all {
		t.rows = append(t.rows, e.row(figure, format, quotient(ours[localName], e.value), quotient(ours[nfsName], e.value)))
	}
}

func (e entry) row(figure, format string, local, nfs float64) row {
	r := row{figure: figure, who: e.name, value: "not installed", local: "-", nfs: "-", goal: e.goal.String(), met: "-"}
	if e.missing {
		return r
	}
	if r.value = "-"; math.IsNaN(e.value) {
		return r
	}
	if r.value = fmt.Sprintf(format, e.value); e.value > 0 && e.value < 0.5 && format == "%.0f" {
		r.value = fmt.Sprintf("%.2g", e.value)
	}
	r.met = e.goal.verdict(e.value, local, nfs)
	if !e.isBase() {
		r.local, r.nfs = ratio(local), ratio(nfs)
	}
	return r
}

// isBase is whether all others are set in relation to it.
func (r rival) isBase() bool { return r.name == localName || r.name == nfsName }

// quotient is no number where there is nothing to compare with: whoever did nothing, or was
// not watched for long enough, is not beaten.
func quotient(ours, value float64) float64 {
	if value == 0 {
		return math.NaN()
	}
	return ours / value
}

// ratio prints a ratio, if there is one.
func ratio(r float64) string {
	switch {
	case math.IsNaN(r):
		return "-"
	case r >= 1000:
		return "> 1000x"
	case r >= 10:
		return fmt.Sprintf("%.0fx", r)
	}
	return fmt.Sprintf("%.2fx", r)
}

// markFailed says of some in the last figure why they have no value.
func (t *table) markFailed(why map[string]string) {
	last := t.rows[len(t.rows)-1].figure
	for i, r := range t.rows {
		if reason := why[r.who]; r.figure == last && reason != "" {
			t.rows[i] = row{figure: r.figure, who: r.who, value: reason, local: "-", nfs: "-", goal: r.goal, met: "-"}
		}
	}
}

// print leaves out a figure's name where it is that of the row above.
func (t *table) print(out io.Writer) {
	rows := []row{head, {}}
	before := ""
	for _, r := range t.rows {
		figure := r.figure
		if figure == before {
			r.figure = ""
		}
		before = figure
		rows = append(rows, r)
	}
	widths := make([]int, len(head.cells()))
	for _, r := range rows {
		for i, cell := range r.cells() {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for n, r := range rows {
		for i, cell := range r.cells() {
			if n == 1 {
				cell = strings.Repeat("-", widths[i])
			}
			fmt.Fprintf(out, "| %-*s ", widths[i], cell)
		}
		fmt.Fprintln(out, "|")
	}
}

// samples are what was measured, by the rival's name.
type samples map[string][]float64

func (s samples) add(r rival, value float64) { s[r.name] = append(s[r.name], value) }

// percentile returns the value below which p of 100 are, and 0 for nothing.
func percentile(values []float64, p float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	place := p / 100 * float64(len(sorted)-1)
	i := int(place)
	if i == len(sorted)-1 {
		return sorted[i]
	}
	return sorted[i] + (place-float64(i))*(sorted[i+1]-sorted[i])
}

func median(values []float64) float64 { return percentile(values, 50) }

// Between these lines of a file is what this program has printed.
const (
	beginMark = "<!-- from go run ./test/bench -->"
	endMark   = "<!-- end of what it printed -->"
)

// intoReadme puts what was printed into the file that was asked for.
func (s settings) intoReadme(printed []byte) error {
	if s.readme == "" {
		return nil
	}
	old, err := os.ReadFile(s.readme)
	if err != nil {
		return err
	}
	text, err := splice(string(old), string(printed))
	if err != nil {
		return fmt.Errorf("%s: %w", s.readme, err)
	}
	return os.WriteFile(s.readme, []byte(text), 0o644)
}

// splice replaces what is between the marks.
func splice(text, printed string) (string, error) {
	before, rest, begun := strings.Cut(text, beginMark+"\n")
	_, after, ended := strings.Cut(rest, endMark)
	if !begun || !ended {
		return "", fmt.Errorf("no lines %s and %s", beginMark, endMark)
	}
	return before + beginMark + "\n" + printed + endMark + after, nil
}
