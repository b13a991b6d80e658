package owner

import (
	"strings"
	"testing"

	"locksmith/backends/process"
)

// TestVerdictLifeline: a holder whose helper is gone is not dead while somebody has its lifeline,
// or may have it.
func TestVerdictLifeline(t *testing.T) {
	line, err := process.NewLifeline()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*Record)
		want   Verdict
	}{
		"helper lives":              {func(*Record) {}, Alive},
		"lifeline there":            {func(r *Record) { r.Helper = gone(r.Helper) }, Orphaned},
		"lifeline gone":             {func(r *Record) { r.Helper, r.Lifeline = gone(r.Helper), line.Name+"0" }, Dead},
		"of another, with its name": {func(r *Record) { r.Helper.PID = process.MaxPID - 1 }, Orphaned},
		"of another network":        {func(r *Record) { r.Helper, r.Lifeline = gone(r.Helper), strings.Repeat("0", 24) }, Orphaned},
		"of another host":           {func(r *Record) { r.Helper, r.Place.Host = gone(r.Helper), "elsewhere" }, Unknown},
	} {
		r := sample(t)
		r.Parent, r.Lifeline = process.Process{}, line.Name
		c.change(&r)
		if got := r.Verdict(Here()); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if _, lives := r.Lives(Here()); lives != (c.want == Alive || c.want == Orphaned) {
			t.Errorf("%s: lives %v", name, lives)
		}
	}
}
