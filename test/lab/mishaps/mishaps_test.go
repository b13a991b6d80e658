package mishaps

import (
	"slices"
	"testing"
)

// TestTable: each row has a name of its own. For every moment it says what must be seen, or why
// the moment makes no sense.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range All {
		if seen[m.What] {
			t.Errorf("%q comes twice", m.What)
		}
		seen[m.What] = true
		for _, moment := range Moments {
			if m.Want.Of(moment) == "" && m.Not[moment] == "" {
				t.Errorf("%q, %s: nothing is to be seen", m.What, moment)
			}
		}
		for moment := range m.Not {
			if !slices.Contains(Moments, moment) {
				t.Errorf("%q: no moment %q", m.What, moment)
			}
		}
	}
}

// TestExpectation: an entry for a narrower place goes first, and for the same place the one for
// the moment.
func TestExpectation(t *testing.T) {
	e := Expectation{"": "a", Waiting: "b", "far": "c; d", "far " + Waiting: "e", "farther " + Releasing: "f, " + EitherSaid}
	for _, c := range []struct {
		want, moment string
		place        []string
	}{
		{"a", Holding, nil}, {"b", Waiting, nil}, {"b", Waiting, []string{"near"}}, {"c; d", Holding, []string{"near", "far"}},
		{"e", Waiting, []string{"far"}}, {"f, " + EitherSaid, Releasing, []string{"farther", "far"}}, {"c; d", Releasing, []string{"far"}},
	} {
		if got := e.Of(c.moment, c.place...); got != c.want {
			t.Errorf("%s at %q: %q, want %q", c.moment, c.place, got, c.want)
		}
	}
	if !e.Allows("d (3 s)", Holding, "far") || e.Allows("a", Holding, "far") || e.Allows("c; d", Holding, "far") {
		t.Error("either of two outcomes is right, and nothing else")
	}
	if !e.MayBeLost(Releasing, "farther") || e.MayBeLost(Releasing, "far") || e.MayBeLost(Holding, "farther") {
		t.Error("only a release may be called a loss, and only where that is said")
	}
}
