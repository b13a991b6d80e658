package cli

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
		var most seconds
		g := guarded{most: &most}
		err := (*forFlag)(&g).Set(text)
		if err != nil || time.Duration(most) != want || (g.file == text) != (want == 0) {
			t.Errorf("%s: %v, file %q, %v", text, time.Duration(most), g.file, err)
		}
	}
	for _, text := range []string{"0s", "-8h", ""} {
		g := guarded{most: new(seconds)}
		if err := (*forFlag)(&g).Set(text); err == nil || g.file != "" {
			t.Errorf("%s is taken", text)
		}
	}
}

func TestUntil(t *testing.T) {
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for most, want := range map[time.Duration]string{0: "", 8 * time.Hour: " until 20:00:00", 24 * time.Hour: " until Thu 2 Jul 12:00"} {
		if got := until(noon, most); got != want {
			t.Errorf("%v: %q, want %q", most, got, want)
		}
	}
}
