package cli

import (
	"testing"
	"time"
)

func TestUntil(t *testing.T) {
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for most, want := range map[time.Duration]string{0: "", 8 * time.Hour: " until 20:00:00", 24 * time.Hour: " until Thu 2 Jul 12:00"} {
		if got := until(noon, most); got != want {
			t.Errorf("until, %v from now: %q, want %q", most, got, want)
		}
	}
}
