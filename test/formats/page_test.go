package formats

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"locksmith/backends"
)

// TestPages: the page of formats names each kind and its layout, and the changes come by day, the
// newest first, each with what it shares locks with.
func TestPages(t *testing.T) {
	page, err := os.ReadFile("../../backends/FORMATS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range backends.Usual().Schemes() {
		if s.Name != "ftps" && !strings.Contains(string(page), "`"+s.Name+":`") {
			t.Errorf("the page does not name %s:", s.Name)
		}
	}
	if !strings.Contains(string(page), "it is "+strconv.Itoa(backends.Layout)+" for all so far") {
		t.Error("the page does not say the layout")
	}
	changes, err := os.ReadFile("../../cmd/locksmith/CHANGES.md")
	if err != nil {
		t.Fatal(err)
	}
	days := regexp.MustCompile(`(?m)^## (\d+) November 2026$`).FindAllStringSubmatch(string(changes), -1)
	for i := 1; i < len(days); i++ {
		if before, _ := strconv.Atoi(days[i-1][1]); strconv.Itoa(before) <= days[i][1] {
			t.Errorf("%s comes before %s", days[i-1][0], days[i][0])
		}
	}
	if n := strings.Count(string(changes), "\nShares locks with: "); n != len(days)-1 || n < 2 {
		t.Errorf("of %d versions %d say what they share locks with", len(days), n)
	}
}
