package backends

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/test/backendtest"
)

// kinds returns the address of a lock of each kind on file systems, as Open takes it and as Tree
// tells of it; %s is the directory.
func kinds() []string {
	return []string{"local:%s/local", "link:%s/link", "mkdir:%s/mkdir", "mkdir:%s/styled?style=dir", "nfs:%s/nfs"}
}

// take takes the lock at an address, and returns how to let it go.
func take(t *testing.T, address string) (release func()) {
	t.Helper()
	b, _, err := Usual().Open(address, backend.Access{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := b.Attempt(backendtest.Request())
	if err != nil {
		t.Fatal(err)
	}
	h, err := a.Try(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := h.Release(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// found returns the locks in a directory with the verdicts on who holds them.
func found(t *testing.T, dir string) (locks []string) {
	t.Helper()
	err := Tree(t.Context(), dir, backend.Listing{Tell: func(l backend.Listed) {
		if l.Err != nil {
			t.Error(l.Err)
		}
		s := l.Lock
		for _, h := range l.Report.Holders {
			s += " " + string(h.Verdict)
		}
		locks = append(locks, s)
	}})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(locks)
	return locks
}

// TestTree: the kind that left a lock on the disk knows it, no other kind does, and Tree tells
// the address that was used.
func TestTree(t *testing.T) {
	dir := t.TempDir()
	var held, free []string
	var releases []func()
	for i, kind := range kinds() {
		for _, place := range []string{"plain", "100% odd?", "ümlaut #&=", "a/b/c/" + fmt.Sprint(i)} {
			if err := os.MkdirAll(filepath.Join(dir, place), 0o755); err != nil {
				t.Fatal(err)
			}
			address := fmt.Sprintf(kind, backend.EscapePath(filepath.Join(dir, place)))
			releases = append(releases, take(t, address))
			held = append(held, address+" "+string(owner.Alive))
			if strings.HasPrefix(kind, "nfs:") || strings.Contains(kind, "style=dir") {
				free = append(free, address)
			}
		}
	}
	slices.Sort(held)
	if have := found(t, dir); !slices.Equal(have, held) {
		t.Errorf("held:\n%q, want\n%q", have, held)
	}
	for _, release := range releases {
		release()
	}
	slices.Sort(free)
	if have := found(t, dir); !slices.Equal(have, free) {
		t.Errorf("free:\n%q, want\n%q", have, free)
	}
}

// TestTreeOfLock: a directory that is a lock itself is told, as it is if its kind alone is looked for.
func TestTreeOfLock(t *testing.T) {
	dir := t.TempDir()
	for _, kind := range kinds()[2:] { // those before are files
		address := fmt.Sprintf(kind, dir)
		defer take(t, address)()
		path, _, _ := strings.Cut(address[strings.Index(address, ":")+1:], "?")
		if have := found(t, path); !slices.Equal(have, []string{address + " " + string(owner.Alive)}) {
			t.Errorf("%s: list finds %q", path, have)
		}
	}
}

// TestTreeOfMany: among 100,000 entries each lock is found once.
func TestTreeOfMany(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes 100,000 files")
	}
	dir := t.TempDir()
	var held []string
	for i := range 100 {
		for _, kind := range kinds() {
			place := fmt.Sprintf("%s/%02d", dir, i)
			if err := os.MkdirAll(place, 0o755); err != nil {
				t.Fatal(err)
			}
			address := fmt.Sprintf(kind, place)
			defer take(t, address)()
			held = append(held, address+" "+string(owner.Alive))
		}
	}
	for i := range 100_000 { // the entries are links, which are made faster than files
		other := fmt.Sprintf("%s/%02d/other", dir, i%10)
		if i < 10 {
			if err := os.WriteFile(other, []byte("no lock\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Link(other, fmt.Sprintf("%s%06d", other, i)); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(held)
	if have := found(t, dir); !slices.Equal(have, held) {
		t.Errorf("%d locks of %d", len(have), len(held))
	}
}
