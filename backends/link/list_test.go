//go:build unix

package link

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/backends/owner"
	"locksmith/test/backendtest"
)

// listedIn returns the locks in a directory, each with its numbers of holders and waiters.
func listedIn(t *testing.T, dir string) (all map[string][2]int, order []string) {
	t.Helper()
	all = map[string][2]int{}
	err := finder.List(t.Context(), openLock(t, dir), "link:"+dir, backend.Listing{Tell: func(l backend.Listed) {
		mustWork(t, l.Err)
		all[l.Lock] = [2]int{len(l.Report.Holders), len(l.Report.Waiters)}
		order = append(order, l.Lock)
	}})
	mustWork(t, err)
	return all, order
}

// TestListClaims: claims are no locks, but a free lock is found by its claims, once.
func TestListClaims(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "L")
	h, err := attemptAt(t, path, backendtest.Request()).Try(t.Context())
	mustWork(t, err)
	for range 3 {
		a := attemptAt(t, path, backendtest.Request())
		if _, err := a.Try(t.Context()); backend.CodeOf(err) != "held" {
			t.Fatal(err)
		}
		defer func() { mustWork(t, a.Withdraw(t.Context())) }()
	}
	mustWork(t, os.WriteFile(filepath.Join(dir, "L-other"), []byte("123\n"), 0o644))
	mustWork(t, os.WriteFile(filepath.Join(dir, "L.claim.letter"), []byte("hello\n"), 0o644))
	lock, other := "link:"+path, "link:"+path+"-other"
	all, order := listedIn(t, dir)
	if !slices.Equal(order, []string{lock, other}) || all[lock] != [2]int{1, 3} || all[other] != [2]int{1, 0} {
		t.Errorf("list finds, while the lock is held: %v", all)
	}
	mustWork(t, h.Release(t.Context()))
	all, order = listedIn(t, dir)
	if len(order) != 2 || all[lock] != [2]int{0, 3} {
		t.Errorf("list finds, when the lock is free: %v", all)
	}
}

// TestListKnowsLocks: which files are locks if locks of this kind alone are asked for, and which
// if all kinds are.
func TestListKnowsLocks(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "L")
	h, err := attemptAt(t, path, backendtest.Request()).Try(t.Context())
	mustWork(t, err)
	defer func() { mustWork(t, h.Release(t.Context())) }()
	record, err := os.ReadFile(path)
	mustWork(t, err)
	id := owner.NewID()
	for name, text := range map[string]string{
		"copy": string(record), "a\nb%?c": string(record), "pid": "1\n", "empty": "", "text": "hello\n",
		"long": string(record) + strings.Repeat("x", finder.MaxText), "local": string(record),
		"other.claim." + id:  string(record), // the record has another id
		"L.brk." + id + ".1": string(record), "L.brk.f-1-2-3.64": string(record),
	} {
		mustWork(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	mustWork(t, unix.Chmod(filepath.Join(dir, "local"), 0o644|unix.S_ISVTX))
	mustWork(t, os.Symlink("L", filepath.Join(dir, "symbolic")))
	var among []string
	s, err := openLock(t, dir).Search(t.Context())
	mustWork(t, err)
	w := finder.Walk{Tree: s.Tree, Kinds: []finder.Kind{s.Kind}, Several: true}
	w.Tell = func(l backend.Listed) {
		mustWork(t, l.Err)
		among = append(among, strings.TrimPrefix(l.Lock, "link:"+dir+"/"))
	}
	mustWork(t, w.Run(t.Context()))
	if want := []string{"L", "a\nb%25%3Fc", "copy"}; !slices.Equal(among, want) {
		t.Errorf("list of all kinds finds %q", among)
	}
	w.Met = func(lock string) bool { return strings.HasSuffix(lock, "/empty") }
	among, w.Several = nil, false
	mustWork(t, w.Run(t.Context()))
	if want := []string{"L", "a\nb%25%3Fc", "copy", "empty", "pid"}; !slices.Equal(among, want) {
		t.Errorf("list of link: alone finds, after a try met the empty file, %q", among)
	}
	_, alone := listedIn(t, dir)
	for i := range alone {
		alone[i] = strings.TrimPrefix(alone[i], "link:"+dir+"/")
	}
	if want := []string{"L", "a\nb%25%3Fc", "copy", "pid"}; !slices.Equal(alone, want) {
		t.Errorf("list of link: alone finds %q", alone)
	}
}
