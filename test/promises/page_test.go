//go:build linux

package promises

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"locksmith/test/lab"
	"locksmith/test/lab/kinds"
)

const (
	pageName = "README.md"
	begin    = "<!-- The rest of this page is written by -update. -->\n"
)

// publish prints the table and compares the page with it, and the guide with what cannot be.
func publish(t *testing.T, all []kinds.Kind) {
	table := render(all)
	t.Log("\n" + table)
	text, err := os.ReadFile(pageName)
	if err != nil {
		t.Fatal(err)
	}
	above, old, found := strings.Cut(string(text), begin)
	switch {
	case !found:
		t.Fatalf("%s has no line %s", pageName, begin)
	case *update:
		if err := os.WriteFile(pageName, []byte(above+begin+"\n"+table), 0o644); err != nil {
			t.Fatal(err)
		}
	case strings.TrimSpace(old) != strings.TrimSpace(table):
		t.Errorf("%s has another table: write it by -update", pageName)
	}
	said := strings.Join(strings.Fields(lab.GuideText(t)), " ")
	for _, q := range questions() {
		for why := range q.not {
			if !strings.Contains(said, why) {
				t.Errorf("the guide does not say of %q: %s", q.name, why)
			}
		}
	}
}

// rows say what each row of the matrix is about.
var rows = map[int]string{
	1: "a dead holder of another host", 2: "nothing tells whose it is", 3: "the place is changed under a holder",
	4: "the guide's alert rules", 5: "a command asks for its own lock", 6: "ends", 7: "two who do not know each other",
	8: "a look that misses", 9: "who is it", 10: "small systems", 11: "neighbours", 12: "containers and proofs of death",
}

// render is the table of rows, that of questions, and what is said of the exceptions.
func render(all []kinds.Kind) string {
	var b strings.Builder
	b.WriteString("## Rows and kinds\n\n")
	head(&b, all, "row")
	byRow := map[int][]question{}
	for _, q := range questions() {
		byRow[q.row] = append(byRow[q.row], q)
	}
	for _, row := range slices.Sorted(maps.Keys(byRow)) {
		fmt.Fprintf(&b, "| %d %s", row, rows[row])
		for _, k := range all {
			b.WriteString(" | " + sum(byRow[row], k))
		}
		b.WriteString(" |\n")
	}
	b.WriteString("\n## Questions and kinds\n\n")
	head(&b, all, "what happens, and what people see")
	for _, row := range slices.Sorted(maps.Keys(byRow)) {
		for _, q := range byRow[row] {
			fmt.Fprintf(&b, "| %d %s: %s", row, q.name, q.want)
			for _, k := range all {
				s, _ := q.state(k)
				b.WriteString(" | " + string(s))
			}
			b.WriteString(" |\n")
		}
	}
	reasons(&b, all, "What is open", open)
	reasons(&b, all, "What cannot be", cannot)
	return b.String()
}

func head(b *strings.Builder, all []kinds.Kind, first string) {
	b.WriteString("| " + first)
	for _, k := range all {
		b.WriteString(" | " + k.Title)
	}
	b.WriteString(" |\n|" + strings.Repeat(" --- |", len(all)+1) + "\n")
}

// sum says what a kind makes of the questions of a row.
func sum(row []question, k kinds.Kind) string {
	count := map[state]int{}
	for _, q := range row {
		s, _ := q.state(k)
		count[s]++
	}
	asked := len(row) - count[absent]
	if asked == 0 {
		return string(absent)
	}
	if count[kept] == asked {
		return string(kept)
	}
	var parts []string
	for _, s := range []state{kept, open, cannot} {
		if count[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[s], s))
		}
	}
	return strings.Join(parts, ", ")
}

// reasons lists the cells of a state with what is said of them.
func reasons(b *strings.Builder, all []kinds.Kind, title string, which state) {
	fmt.Fprintf(b, "\n## %s\n\n", title)
	none := true
	for _, q := range questions() {
		by := map[string][]string{}
		for _, k := range all {
			if s, why := q.state(k); s == which {
				by[why] = append(by[why], k.Title)
			}
		}
		for _, why := range slices.Sorted(maps.Keys(by)) {
			fmt.Fprintf(b, "- row %d, %s (`%s`): %s\n", q.row, q.name, strings.Join(by[why], "`, `"), why)
			none = false
		}
	}
	if none {
		b.WriteString("Nothing.\n")
	}
}
