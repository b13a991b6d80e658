//go:build unix

package sftp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backendtest"
	"locksmith/backends/owner"
	"locksmith/test/lab"
)

func TestMain(m *testing.M) {
	if socket := os.Getenv(AskpassVariable); socket != "" { // an ssh of ours asks for a password
		if Ask(socket, os.Args[1], os.Stdout) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	lab.Parallel(8)
	lab.Main(m, nil)
}

var testAddress = backend.Address{Scheme: Scheme, Host: "h", User: "u", Path: "/lock"}

// open is the lock in the format of nfs:, as swift, and with leases as short, as the suite has them.
func (f *fake) open(t testing.TB) *lock {
	return &lock{server: f.server(t, testAddress), Env: owner.NewEnv(), leastAnswer: maxAnswer}
}

// openStyle is a lock of directories.
func (f *fake) openStyle(t testing.TB, style string) backend.Backend {
	t.Helper()
	a := testAddress
	a.Options = map[string]string{"style": style}
	b, err := openDirectories(f.server(t, a))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestConformance(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, backendtest.Subject{Shared: true, Queue: true, New: func(t *testing.T) backendtest.Fixture {
		f := startFake(t)
		return backendtest.Fixture{
			Open:      func() backend.Backend { return f.open(t) },
			Leftovers: func() []string { return leftovers(filepath.Join(f.dir, "lock")) },
			Remove:    func() { empty(t, filepath.Join(f.dir, "lock", "R")) },
			Abandon:   func(backend.Hold) {}, // its connection does not make it live
			Stay:      50 * time.Millisecond,
		}
	}})
}

func TestConformanceOfStyles(t *testing.T) {
	t.Parallel()
	for _, style := range []string{"plain", "dir"} {
		t.Run(style, func(t *testing.T) {
			t.Parallel()
			backendtest.Run(t, backendtest.Subject{Shared: style == "dir", New: func(t *testing.T) backendtest.Fixture {
				f := startFake(t)
				place := filepath.Join(f.dir, "lock")
				return backendtest.Fixture{
					Open:      func() backend.Backend { return f.openStyle(t, style) },
					Leftovers: func() []string { return leftoversOfDirectories(place) },
					Remove: func() {
						if err := os.RemoveAll(place); err != nil {
							t.Error(err)
						}
					},
					Abandon: func(backend.Hold) {},
					Stay:    50 * time.Millisecond,
				}
			}})
		})
	}
}

// leftovers are those of the format, and what was made beside a lock that was not there yet.
func leftovers(path string) []string {
	above, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	return append(backendtest.GenerationLeftovers(path), above...)
}

// leftoversOfDirectories are all but a tree and its newest tokens.
func leftoversOfDirectories(place string) []string {
	all, _ := filepath.Glob(place + "*")
	tree, _ := filepath.Glob(filepath.Join(place, "*"))
	held, _ := filepath.Glob(filepath.Join(place, "lock", "*"))
	for _, name := range tree {
		if base := filepath.Base(name); base != "lock" && !strings.HasPrefix(base, "fence.") && !strings.HasPrefix(base, "done.") {
			held = append(held, name)
		}
	}
	if len(all) == 1 && len(tree) > 0 && len(held) == 0 {
		return nil
	}
	return append(all, held...)
}

func empty(t *testing.T, dir string) {
	t.Helper()
	all, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range all {
		if err := os.RemoveAll(name); err != nil {
			t.Error(err)
		}
	}
}
