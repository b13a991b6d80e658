//go:build unix

package mkdirlock

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/backends/backend"
	"locksmith/test/backendtest"
)

func TestConformance(t *testing.T) {
	t.Run("plain", func(t *testing.T) { backendtest.Run(t, subject(nil)) })
	t.Run("dir", func(t *testing.T) {
		s := subject(map[string]string{"style": "dir"})
		s.Shared = true
		backendtest.Run(t, s)
	})
	t.Run("dir without tokens", func(t *testing.T) {
		backendtest.Run(t, subject(map[string]string{"style": "dir", "tokens": "no"}))
	})
}

func subject(options map[string]string) backendtest.Subject {
	return backendtest.Subject{New: func(t *testing.T) backendtest.Fixture {
		path := filepath.Join(t.TempDir(), "lock")
		return backendtest.Fixture{
			Garble: func() { backendtest.GarbleFiles(t, path) },
			Open: func() backend.Backend {
				b, err := Open(backend.Address{Scheme: Scheme, Path: path, Options: options})
				if err != nil {
					t.Fatal(err)
				}
				return b
			},
			Leftovers: func() []string { return leftovers(t, path) },
			Remove: func() {
				if err := os.RemoveAll(path); err != nil {
					t.Error(err)
				}
			},
			Removals: backendtest.RemovalsOf(t, path),
			Abandon:  func(backend.Hold) {}, // a hold keeps nothing open
		}
	}}
}

// leftovers is what should not be left of a free lock: all but the newest tokens and, in dir
// style, the empty lock.
func leftovers(t *testing.T, path string) []string {
	t.Helper()
	left, _ := filepath.Glob(path + "*")
	fences := 0
	in, _ := filepath.Glob(filepath.Join(path, "*"))
	for _, name := range in {
		if strings.HasPrefix(filepath.Base(name), "fence.") {
			fences++
		} else if names, _ := os.ReadDir(name); filepath.Base(name) != "lock" || len(names) > 0 {
			left = append(left, name)
		}
	}
	if len(left) == 1 && left[0] == path && len(in) > 0 && fences < 5 {
		return nil // L, which stays
	}
	return left
}
