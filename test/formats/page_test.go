//go:build unix

package formats

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"locksmith/backends"
)

// TestPages: the page of formats names each kind and its layout. The changes come by day, the
// newest first, and each says with which versions it shares locks.
func TestPages(t *testing.T) {
	page, err := os.ReadFile("../../backends/FORMATS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range backends.Usual().Schemes() {
		if s.Name != "ftps" && !strings.Contains(string(page), "`"+s.Name+":`") {
			t.Errorf("backends/FORMATS.md does not name %s:", s.Name)
		}
	}
	if !strings.Contains(string(page), "it is "+strconv.Itoa(backends.Layout)+" for all so far") {
		t.Error("backends/FORMATS.md does not say the number of the layout")
	}
	changes, err := os.ReadFile("../../cmd/locksmith/CHANGES.md")
	if err != nil {
		t.Fatal(err)
	}
	days := regexp.MustCompile(`(?m)^## (\d+) November 2026$`).FindAllStringSubmatch(string(changes), -1)
	for i := 1; i < len(days); i++ {
		if before, _ := strconv.Atoi(days[i-1][1]); strconv.Itoa(before) <= days[i][1] {
			t.Errorf("in CHANGES.md %s comes before %s, which is newer", days[i-1][0], days[i][0])
		}
	}
	if n := strings.Count(string(changes), "\nShares locks with: "); n != len(days)-1 || n < 2 {
		t.Errorf("CHANGES.md has %d versions, and %d of them say with which they share locks; all but the oldest must", len(days), n)
	}
}
