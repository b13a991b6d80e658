package flags

import (
	"testing"
	"time"
)

// TestFor: what has a unit is a time, all else the name of a file.
func TestFor(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"8h": 8 * time.Hour, "90m": 90 * time.Minute, "1h30m": 90 * time.Minute, "0.5s": time.Second / 2,
		"90": 0, "0": 0, ".5": 0, "1e3": 0, "inf": 0, "8 h": 0, "./8h": 0, "1d": 0, "h": 0, "phones.csv": 0,
	} {
		var most time.Duration
		g := File{Most: &most}
		err := (*fileFlag)(&g).Set(text)
		if err != nil || most != want || (g.Path == text) != (want == 0) {
			t.Errorf("%s: %v, file %q, %v", text, most, g.Path, err)
		}
	}
	for _, text := range []string{"0s", "-8h", ""} {
		g := File{Most: new(time.Duration)}
		if err := (*fileFlag)(&g).Set(text); err == nil || g.Path != "" {
			t.Errorf("%s is taken", text)
		}
	}
}
