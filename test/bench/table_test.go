package main

import (
	"strings"
	"testing"
)

// TestVerdicts: the table says which goals are missed, and who is missing.
func TestVerdicts(t *testing.T) {
	var table table
	table.add("speed", "%.0f", []entry{
		{rival: rival{name: localName}, value: 10},
		{rival: rival{name: nfsName}, value: 4},
		{rival: rival{name: "beaten"}, value: 2, goal: goal{local: atLeast(2), nfs: atLeast(2)}},
		{rival: rival{name: "by one"}, value: 3, goal: goal{local: atLeast(3), nfs: atLeast(3)}},
		{rival: rival{name: "slower"}, value: 20, goal: goal{local: atMost(2), nfs: atMost(0.1)}},
		{rival: rival{name: "best"}, value: 20, goal: goal{local: atLeast(1)}},
		{rival: rival{name: "absent", missing: true}, goal: goal{local: atLeast(1)}},
		{rival: rival{name: "still"}, value: 0, goal: goal{value: atMost(0)}},
		{rival: rival{name: "never"}, value: 0, goal: goal{local: atLeast(2), nfs: atLeast(2)}},
		{rival: rival{name: "seldom"}, value: 0.25, goal: goal{local: atLeast(2), nfs: atLeast(2)}},
	})
	want := map[string]string{localName: "10 - - - -", "beaten": "2 5.00x 2.00x ≥ 2x yes", "by one": "3 3.33x 1.33x ≥ 3x no, by nfs:",
		"slower": "20 0.50x 0.20x local: ≤ 2x, nfs: ≤ 0.1x no, by nfs:", "best": "20 0.50x 0.20x local: ≥ 1x no",
		"absent": "not installed - - local: ≥ 1x -", "still": "0 - - ≤ 0 yes",
		"never": "0 - - ≥ 2x -", "seldom": "0.25 40x 16x ≥ 2x yes"}
	for _, r := range table.rows {
		if want, known := want[r.who]; known && strings.Join(r.cells()[2:], " ") != want {
			t.Errorf("%s: %q, want %q", r.who, r.cells()[2:], want)
		}
	}
}

func TestSplice(t *testing.T) {
	const text = "before\n" + beginMark + "\nold\n" + endMark + "\nafter\n"
	got, err := splice(text, "new\n")
	if want := strings.Replace(text, "old", "new", 1); err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := splice("before\n"+beginMark+"\nold\n", "new\n"); err == nil {
		t.Error("half of the marks are enough")
	}
}

func TestPercentile(t *testing.T) {
	for p, want := range map[float64]float64{0: 1, 50: 2.5, 100: 4} {
		if got := percentile([]float64{4, 1, 3, 2}, p); got != want {
			t.Errorf("percentile %g: %g, not %g", p, got, want)
		}
	}
	if percentile(nil, 50) != 0 {
		t.Error("something of nothing")
	}
}
