//go:build unix

package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"locksmith/backends/backend"
	"locksmith/test/backendtest"
)

// TestExampleConforms: the kind of lock of ExampleWith, which others may copy, passes the suite,
// and is short.
func TestExampleConforms(t *testing.T) {
	text, err := os.ReadFile("example_with_test.go")
	if err != nil {
		t.Fatal(err)
	}
	written := 0
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) > 0 {
			written++
		}
	}
	if written > 150 {
		t.Errorf("the example has %d lines that are not blank, the most is 150", written)
	}
	backendtest.Run(t, backendtest.Subject{New: func(t *testing.T) backendtest.Fixture {
		kind := table{filepath.Join(t.TempDir(), "jobs.db")}
		return backendtest.Fixture{
			Open: func() backend.Backend { return kind },
			Leftovers: func() []string {
				if text, err := os.ReadFile(kind.path); err != nil || len(text) > 0 && (!bytes.HasPrefix(text, []byte(`{"Holder":"",`)) || bytes.Contains(text, []byte("Slips"))) {
					return []string{"a row: " + string(text)}
				}
				return nil
			},
			Garble: func() {
				backendtest.MustWork(t, os.WriteFile(kind.path, []byte(`{"Holder":"of a later version"}`), 0o600))
			},
			Remove:  func() { backendtest.MustWork(t, os.Truncate(kind.path, 0)) },
			Abandon: func(backend.Hold) {}, // a row stays when the holder's process dies
		}
	}})
}
