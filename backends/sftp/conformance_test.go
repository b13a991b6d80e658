//go:build unix

package sftp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/generation/symlinks"
	"locksmith/test/backendtest"
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

// open opens a lock in the format of nfs:, as swift as the suite wants it, and with leases as
// short.
func (f *fake) open(t testing.TB) *lock {
	l := newLock(f.server(t, testAddress))
	l.leastAnswer = maxAnswer
	return l
}

// dirs tells the directory that was opened last.
func (l *lock) dirs() func() *symlinkDir {
	var last *symlinkDir
	open := l.Use
	l.Use = func(lease time.Duration) *symlinks.Lock {
		opened := open(lease)
		last = opened.Dir.(*symlinkDir)
		return opened
	}
	return func() *symlinkDir { return last }
}

// openStyle opens a lock of directories.
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
	for _, style := range []string{"", "plain", "dir"} {
		t.Run("style="+style, func(t *testing.T) {
			t.Parallel()
			conform(t, style, func(t *testing.T) (string, func() backend.Backend) {
				f := startFake(t)
				return f.dir, func() backend.Backend {
					if style != "" {
						return f.openStyle(t, style)
					}
					return f.open(t)
				}
			})
		})
	}
}

// conform runs the suite with locks of a style. place makes a directory each time it is called;
// open opens the lock called "lock" in it.
func conform(t *testing.T, style string, place func(*testing.T) (dir string, open func() backend.Backend)) {
	backendtest.Run(t, backendtest.Subject{Shared: style != "plain", Queue: style == "", New: func(t *testing.T) backendtest.Fixture {
		dir, open := place(t)
		path := filepath.Join(dir, "lock")
		f := backendtest.Fixture{
			Open:      open,
			Leftovers: func() []string { return leftovers(path) },
			Remove:    func() { empty(t, filepath.Join(path, "R")) },
			Removals:  backendtest.RemovalsOfGenerations(t, path),
			Abandon:   func(backend.Hold) {}, // a hold does not live by its connection
			Stay:      200 * time.Millisecond,
		}
		if style != "" {
			f.Leftovers = func() []string { return leftoversOfDirectories(path) }
			f.Remove = func() { empty(t, dir) }
			f.Removals = nil
		}
		return f
	}})
}

// leftovers returns the format's leftovers, and what was made beside a lock that did not exist
// yet.
func leftovers(path string) []string {
	above, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	return append(backendtest.GenerationLeftovers(path), above...)
}

// leftoversOfDirectories is all that is there, except the directory of dir style and its newest
// tokens.
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
