package plot

import (
	"encoding/xml"
	"math"
	"strings"
	"testing"
)

func TestAxis(t *testing.T) {
	for _, x := range []struct {
		values []float64
		names  string
	}{
		{[]float64{0.3, 25}, "0.1 1 10 100"},
		{[]float64{1, 1000}, "1 10 100 1000"},
		{[]float64{0, 5}, "0 1 10"},
		{[]float64{0}, "0 1"},
		{nil, "1 10"},
	} {
		var names []string
		a := newAxis(10, x.values, 0, 100)
		for _, name := range a.ticks() {
			names = append(names, name)
		}
		if got := strings.Join(names, " "); got != x.names {
			t.Errorf("%v: ticks %s, want %s", x.values, got, x.names)
		}
		for _, v := range x.values {
			if at := a.at(v); at < 0 || at > 100 || v == 0 && at != 0 {
				t.Errorf("%v: %g is at %g", x.values, v, at)
			}
		}
	}
	if at := newAxis(10, []float64{1, 100}, 0, 100).at(10); math.Abs(at-50) > 1e-9 {
		t.Errorf("10 is at %g between 1 and 100", at)
	}
}

// TestDraw: every point has its mark, and whatever is in a name is only text.
func TestDraw(t *testing.T) {
	curves := []Curve{{"one & <only>", []Point{{1, 2}, {2, 0}}}, {"none", nil}}
	drawn := string(Draw("heading", "x", []Panel{{"first", curves}, {"second", curves}, {"third", curves}}))
	if err := xml.Unmarshal([]byte(drawn), new(struct{})); err != nil {
		t.Errorf("%v\n%s", err, drawn)
	}
	if marks, lines := strings.Count(drawn, "<circle"), strings.Count(drawn, "<polyline"); marks != 3*2+1 || lines != 3*2 {
		t.Errorf("%d marks and %d lines\n%s", marks, lines, drawn)
	}
	if len(Draw("heading", "x", nil)) == 0 {
		t.Error("nothing at all is drawn without panels")
	}
}
