package protocol

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestStopAfter: the rule is that of the page, for parents and for helpers. The quarter that is left
// is not less for a lease that four does not divide.
func TestStopAfter(t *testing.T) {
	for lease, want := range map[time.Duration]time.Duration{
		time.Minute: 45 * time.Second, time.Second: 750 * time.Millisecond, 0: 0, 7: 5,
		366 * 24 * time.Hour: 6588 * time.Hour,
	} {
		if got := StopAfter(lease); got != want || lease-got < lease/4 {
			t.Errorf("with a lease of %v a holder stops after %v, want %v, and a quarter left", lease, got, want)
		}
	}
	for page, rule := range map[string]string{
		"README.md":  "When no `BEAT` has come for three quarters of `lease_ms`",
		"HELPERS.md": "At three quarters of it without another success say `LOST code=expired`",
	} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), rule) {
			t.Errorf("%s does not say %q", page, rule)
		}
	}
}
