package backendtest

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestContract: the contract names the subtest that judges each obligation, and there is no
// subtest that it does not name.
func TestContract(t *testing.T) {
	text, err := os.ReadFile("../../backends/backend/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	doc, _, _ := strings.Cut(string(text), "\npackage ")
	doc = strings.Join(strings.Fields(strings.ReplaceAll(doc, "//", " ")), " ")
	for _, c := range slices.Concat(always, whereShared, whereQueued) {
		if !strings.Contains(doc, "\""+c.name+"\"") {
			t.Errorf("the contract does not name the subtest %q", c.name)
		}
	}
}
