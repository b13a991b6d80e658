package bench

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
)

// A row is a figure's value of a rival.
type row struct {
	figure, of, value string
	ratios            []string // of each of ours to it
	goal, met         string
}

func (r row) cells() []string {
	return slices.Concat([]string{r.figure, r.of, r.value}, r.ratios, []string{r.goal, r.met})
}

// Goals are bounds of values, by the rival's name: "≤ 1.6", or, of our ratios to it,
// "≥ 5x" for all of ours that are measured and "local: ≤ 1.25x, nfs: ≤ 1.5x" for each.
type goals map[string]string

// A base is one of ours for which the table has a column: its ratios to the others.
type base struct {
	name  string // "local:"
	value float64
}

// Values are a figure's.
type values func(rival) float64

// samples are what was measured, by the rival's name.
type samples map[string][]float64

func (s samples) add(r rival, values ...float64) { s[r.name] = append(s[r.name], values...) }

func (s samples) percentile(p float64) values {
	return func(r rival) float64 { return percentile(s[r.name], p) }
}

// percentile returns the value below which p of 100 are, and 0 for nothing.
func percentile(values []float64, p float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	place := p / 100 * float64(len(sorted)-1)
	i := min(int(place), max(len(sorted)-2, 0))
	return sorted[i] + (place-float64(i))*(sorted[min(i+1, len(sorted)-1)]-sorted[i])
}

// medians adds a figure with everybody's median.
func (b *bench) medians(figure, format string, of []rival, s samples, g goals) {
	b.show(figure, format, of, s.percentile(50), g)
}

// show adds a figure's rows.
func (b *bench) show(figure, format string, of []rival, v values, g goals) {
	ours := make([]base, len(b.ours))
	for i, r := range b.ours {
		ours[i] = base{strings.TrimPrefix(r.name, "locksmith "), math.NaN()}
		if slices.ContainsFunc(of, func(o rival) bool { return o.name == r.name }) && b.excuses[r.name] == "" {
			ours[i].value = v(r)
		}
	}
	for _, r := range of {
		row := row{figure + b.among, r.name, b.excuses[r.name], slices.Repeat([]string{"-"}, len(ours)), cmp.Or(g[r.name], "-"), "-"}
		if row.value == "" {
			row.fill(format, v(r), ours)
		}
		b.rows = append(b.rows, row)
	}
}

// fill fills in a value and what follows from it.
func (r *row) fill(format string, value float64, ours []base) {
	ratios := make([]base, len(ours))
	isOurs := false
	for i, o := range ours {
		ratios[i] = base{o.name, quotient(o.value, value)}
		isOurs = isOurs || "locksmith "+o.name == r.of
	}
	switch r.value = fmt.Sprintf(format, value); {
	case math.IsNaN(value):
		r.value = "-"
		return
	case value > 0 && value < 0.5 && format == "%.0f":
		r.value = fmt.Sprintf("%.2g", value)
	}
	r.met = verdict(r.goal, value, ratios)
	for i := range ratios {
		if !isOurs {
			r.ratios[i] = ratio(ratios[i].value)
		}
	}
}

// quotient is no number if there is nothing to compare with: a rival that did nothing, or was not
// watched for long enough, is not beaten.
func quotient(ours, value float64) float64 {
	if value == 0 {
		return math.NaN()
	}
	return ours / value
}

// alone adds a figure's rows without ratios.
func (b *bench) alone(figure, format string, of []rival, v values, g goals) {
	n := len(b.rows)
	b.show(figure, format, of, v, g)
	for i := range b.rows[n:] {
		b.rows[n+i].ratios = slices.Repeat([]string{"-"}, len(b.ours))
	}
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

// verdict says whether a goal is met, by a value and our ratios to it.
func verdict(goal string, value float64, ratios []base) string {
	met, missed := 0, ""
	compared := slices.DeleteFunc(slices.Clone(ratios), func(b base) bool { return math.IsNaN(b.value) })
	for bound := range strings.SplitSeq(goal, ", ") {
		words := strings.Fields(bound)
		text, isRatio := strings.CutSuffix(words[len(words)-1], "x")
		limit, err := strconv.ParseFloat(text, 64)
		if err != nil || isRatio && len(compared) == 0 {
			return "-" // there is no goal, or nothing to compare with
		}
		who := strings.Join(words[:len(words)-2], " ")
		for _, of := range append([]base{{"", value}}, compared...) {
			switch {
			case isRatio != (of.name != "") || who != "" && who != of.name:
			case words[len(words)-2] == "≤" && of.value <= limit, words[len(words)-2] == "≥" && of.value >= limit:
				met++
			case missed == "":
				missed = "no, by " + of.name
			}
		}
	}
	switch {
	case missed == "":
		return "yes"
	case met == 0:
		return "no"
	}
	return missed
}

// markdown is the table, aligned so that it can be read as it is. It leaves out a figure's name
// if the row above has the same.
func (b *bench) markdown() string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 1, ' ', 0)
	var columns []string
	for _, r := range b.ours {
		columns = append(columns, strings.TrimPrefix(r.name, "locksmith "))
	}
	head := []row{{"figure", "of", "value", columns, "goal", "met"}, {"---", "---", "---", slices.Repeat([]string{"---"}, len(columns)), "---", "---"}}
	before := ""
	for _, r := range append(head, b.rows...) {
		figure := r.figure
		if figure == before {
			r.figure = ""
		}
		before = figure
		fmt.Fprintf(w, "| %s\t|\n", strings.Join(r.cells(), "\t| "))
	}
	_ = w.Flush() // into memory
	return text.String()
}

// Between these lines of a file is what a test has printed.
const (
	beginMark     = "<!-- from go test ./test/bench -->"
	besideFlock   = "<!-- from go test ./test/bench -run TestBesideFlock -->"
	besideEtcdctl = "<!-- from go test ./test/bench -run TestBesideEtcdctl -->"
	endMark       = "<!-- end of what it printed -->"
)

// cut cuts a file in what is before, between and after the marks.
func cut(t testing.TB, file, beginMark string) (before, printed, after string) {
	t.Helper()
	text, err := os.ReadFile(file)
	before, rest, begun := strings.Cut(string(text), beginMark+"\n")
	printed, after, ended := strings.Cut(rest, endMark)
	if err != nil || !begun || !ended {
		t.Fatalf("%s: no lines %s and %s: %v", file, beginMark, endMark, err)
	}
	return before + beginMark + "\n", printed, endMark + after
}

func putInto(t testing.TB, file, beginMark, printed string) {
	before, _, after := cut(t, file, beginMark)
	if err := os.WriteFile(file, []byte(before+printed+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// putRows replaces the rows of the figures that were measured, in a table in which others stay.
// when tells which those are, and stands before the table.
func (b *bench) putRows(t testing.TB, file, beginMark, when string) {
	before, printed, after := cut(t, file, beginMark)
	begin := strings.Index(printed, "| figure")
	if begin < 0 {
		t.Fatalf("%s: no table after %s", file, beginMark)
	}
	heading, what := strings.TrimRight(printed[:begin], "\n"), when[:strings.Index(when, ":")+1]
	lines := slices.DeleteFunc(strings.Split(heading, "\n"), func(line string) bool { return strings.HasPrefix(line, what) })
	if !strings.Contains(heading, othersBegin) {
		lines = append(lines, "", othersBegin, "")
	}
	merged := *b
	merged.rows = merge(parseRows(printed[begin:]), b.rows)
	text := strings.Join(append(lines, when), "\n") + "\n\n" + merged.markdown()
	if err := os.WriteFile(file, []byte(before+text+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

const othersBegin = "From other runs are"

// parseRows reads what markdown has written.
func parseRows(table string) (rows []row) {
	figure := ""
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i, c := range cells {
			cells[i] = strings.TrimSpace(c)
		}
		n := len(cells)
		if n < len(row{}.cells()) || cells[0] == "figure" || strings.HasPrefix(cells[0], "---") {
			continue
		}
		figure = cmp.Or(cells[0], figure)
		rows = append(rows, row{figure, cells[1], cells[2], cells[3 : n-2], cells[n-2], cells[n-1]})
	}
	return rows
}

// fell says of each ratio that is worse than an older one of the same row by a quarter and more.
// More is better of hand-offs and increments, less of everything else.
func fell(columns []rival, older, newer []row) (lines []string) {
	for _, now := range newer {
		i := slices.IndexFunc(older, func(then row) bool { return then.figure == now.figure && then.of == now.of })
		if i < 0 || len(older[i].ratios) != len(now.ratios) {
			continue
		}
		more := strings.HasPrefix(now.figure, "hand-offs") || strings.HasPrefix(now.figure, "increments")
		for j, text := range now.ratios {
			was, err := strconv.ParseFloat(strings.TrimSuffix(older[i].ratios[j], "x"), 64)
			is, err2 := strconv.ParseFloat(strings.TrimSuffix(text, "x"), 64)
			if err != nil || err2 != nil || more && is > was*3/4 || !more && is < was*5/4 {
				continue
			}
			lines = append(lines, fmt.Sprintf("fell: %s, %s to %s: %s, on the page %s", now.figure, columns[j].name, now.of, text, older[i].ratios[j]))
		}
	}
	return lines
}

// TestFell: what fell is told by the figure's direction, and nothing else is.
func TestFell(t *testing.T) {
	of := func(figure, rival string, ratios ...string) row { return row{figure, rival, "1", ratios, "-", "-"} }
	older := []row{of("ms", "a", "1.00x", "2.00x"), of("hand-offs a second", "a", "0.50x", "-"), of("gone", "a", "1.00x", "1.00x")}
	newer := []row{of("ms", "a", "1.24x", "2.60x"), of("hand-offs a second", "a", "0.30x", "0.10x"), of("ms", "new", "9.00x", "9.00x")}
	want := []string{
		"fell: ms, " + nfs.name + " to a: 2.60x, on the page 2.00x",
		"fell: hand-offs a second, " + local.name + " to a: 0.30x, on the page 0.50x",
	}
	if got := fell([]rival{local, nfs}, older, newer); !slices.Equal(got, want) {
		t.Errorf("it says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// merge puts newer rows in the places of older ones of the same figure, and the rest at the end.
func merge(older, newer []row) (all []row) {
	of, known := map[string][]row{}, map[string]bool{}
	for _, r := range newer {
		of[r.figure] = append(of[r.figure], r)
	}
	for _, r := range older {
		switch mine, measured := of[r.figure]; {
		case !measured:
			all = append(all, r)
		case !known[r.figure]:
			all = append(all, mine...)
		}
		known[r.figure] = true
	}
	return append(all, slices.DeleteFunc(slices.Clone(newer), func(r row) bool { return known[r.figure] })...)
}

// numbers in a figure's name are those of the plan.
var numbers = regexp.MustCompile(`\b[0-9][0-9ms]*\b`)

// outline is what a printed table has besides values: figures, whose they are, and goals.
func outline(printed string) map[string]bool {
	all, figure := map[string]bool{}, ""
	for line := range strings.Lines(printed) {
		if cells := strings.Split(line, "|"); len(cells) >= len(row{}.cells())+2 && !strings.Contains(cells[1], "---") {
			figure = cmp.Or(strings.TrimSpace(numbers.ReplaceAllString(cells[1], "N")), figure)
			all[figure+" of "+strings.TrimSpace(cells[2])+", goal "+strings.Trim(cells[len(cells)-3], "- ")] = true
		}
	}
	return all
}

// mustShow fails if a file does not show what was measured or, if that was everything, if
// it shows more.
func mustShow(t *testing.T, file, beginMark, measured string, everything bool) {
	_, printed, _ := cut(t, file, beginMark)
	there := outline(printed)
	for row := range outline(measured) {
		if !there[row] {
			t.Errorf("%s does not show: %s", file, row)
		}
		delete(there, row)
	}
	if everything && len(there) > 0 {
		t.Errorf("%s shows what is not measured: %v", file, there)
	}
}

// TestShow: the table says which goals are missed, and which rivals are missing.
func TestShow(t *testing.T) {
	measured := map[string]float64{local.name: 10, nfs.name: 4, "beaten": 2, "by one": 3, "slower": 20, "best": 20,
		"still": 0, "never": 0, "seldom": 0.25, "unknown": math.NaN()}
	b := &bench{TB: t, ours: []rival{local, nfs}, excuses: map[string]string{"absent": "not installed"}}
	var of []rival
	for _, name := range []string{local.name, nfs.name, "beaten", "by one", "slower", "best", "absent", "still", "never", "seldom", "unknown"} {
		of = append(of, rival{name: name})
	}
	b.show("speed", "%.0f", of, func(r rival) float64 { return measured[r.name] }, goals{
		"beaten": "≥ 2x", "by one": "≥ 3x", "slower": "local: ≤ 2x, nfs: ≤ 0.1x", "best": "local: ≥ 1x", "absent": "local: ≥ 1x",
		"still": "≤ 0", "never": "≥ 2x", "seldom": "≥ 2x", "unknown": "≥ 2x",
	})
	const want = `
| figure | of               | value         | local: | nfs:  | goal                     | met         |
| ---    | ---              | ---           | ---    | ---   | ---                      | ---         |
| speed  | locksmith local: | 10            | -      | -     | -                        | -           |
|        | locksmith nfs:   | 4             | -      | -     | -                        | -           |
|        | beaten           | 2             | 5.00x  | 2.00x | ≥ 2x                     | yes         |
|        | by one           | 3             | 3.33x  | 1.33x | ≥ 3x                     | no, by nfs: |
|        | slower           | 20            | 0.50x  | 0.20x | local: ≤ 2x, nfs: ≤ 0.1x | no, by nfs: |
|        | best             | 20            | 0.50x  | 0.20x | local: ≥ 1x              | no          |
|        | absent           | not installed | -      | -     | local: ≥ 1x              | -           |
|        | still            | 0             | -      | -     | ≤ 0                      | yes         |
|        | never            | 0             | -      | -     | ≥ 2x                     | -           |
|        | seldom           | 0.25          | 40x    | 16x   | ≥ 2x                     | yes         |
|        | unknown          | -             | -      | -     | ≥ 2x                     | -           |
`
	if got := "\n" + b.markdown(); got != want {
		t.Errorf("it prints%s, want%s", got, want)
	}
}

func TestPercentile(t *testing.T) {
	for p, want := range map[float64]float64{0: 1, 50: 2.5, 100: 4} {
		if got := percentile([]float64{4, 1, 3, 2}, p); got != want {
			t.Errorf("percentile %g: %g, not %g", p, got, want)
		}
	}
	if percentile(nil, 50) != 0 || percentile([]float64{1}, 50) != 1 {
		t.Error("of nothing comes something, or of one another")
	}
}

// TestPutRows: rows of one figure replace those of the same, and nothing else.
func TestPutRows(t *testing.T) {
	b := &bench{TB: t, ours: []rival{local, nfs}, excuses: map[string]string{}}
	figure := func(name string, value float64) {
		b.show(name, "%.0f", []rival{local, flock}, func(rival) float64 { return value }, nil)
	}
	figure("speed", 10)
	figure("weight", 20)
	figure("age", 30)
	file := filepath.Join(t.TempDir(), "file")
	first := "before\n" + beginMark + "\n1 May:\n\n" + b.markdown() + endMark + "\nafter\n"
	if err := os.WriteFile(file, []byte(first), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, day := range []string{"2 May", "3 May"} {
		b.rows = nil
		figure("weight", 25)
		figure("height", 40)
		b.putRows(t, file, beginMark, "- bodies: "+day+".")
	}
	b.rows = nil
	figure("speed", 10)
	figure("weight", 25)
	figure("age", 30)
	figure("height", 40)
	want := "before\n" + beginMark + "\n1 May:\n\n" + othersBegin + "\n\n- bodies: 3 May.\n\n" + b.markdown() + endMark + "\nafter\n"
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("it is\n%s\nwant\n%s\n%v", got, want, err)
	}
}

func TestPutInto(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	const text = "before\n" + beginMark + "\nold\n" + endMark + "\nafter\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	putInto(t, file, beginMark, "new\n")
	if got, err := os.ReadFile(file); err != nil || string(got) != strings.Replace(text, "old", "new", 1) {
		t.Errorf("%q, %v", got, err)
	}
}
