//go:build unix

package local

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/test/backendtest"
)

// TestListKnowsLocks: which files count as locks, when one asks for locks of this kind, and when
// one asks for all kinds.
func TestListKnowsLocks(t *testing.T) {
	dir := t.TempDir()
	h, err := attemptAt(t, filepath.Join(dir, "held"), backendtest.Request()).Try(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	record, err := os.ReadFile(filepath.Join(dir, "held"))
	for name, f := range map[string]struct {
		text string
		mode uint32
	}{
		"half":    {"", 0o644 | unix.S_ISVTX}, // its maker has not written yet
		"pid":     {"1\n", 0o644},
		"blanks":  {" 1 \n\n", 0o644},
		"zero":    {"0\n", 0o644},
		"empty":   {"", 0o644},
		"text":    {"hello\n", 0o644},
		"odd":     {"hello\n", 0o644 | unix.S_ISVTX},
		"long":    {string(record) + strings.Repeat("x", finder.MaxText), 0o644 | unix.S_ISVTX},
		"linked":  {string(record), 0o644}, // as link: writes it
		"a\nb%?c": {string(record), 0o644 | unix.S_ISVTX},
	} {
		path := filepath.Join(dir, name)
		err = errors.Join(err, os.WriteFile(path, []byte(f.text), 0o600), unix.Chmod(path, f.mode))
	}
	err = errors.Join(err, os.Symlink("held", filepath.Join(dir, "symbolic")), unix.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	ours := []string{"a\nb%25%3Fc", "half", "held"}
	if have := listed(t, dir, true); !slices.Equal(have, ours) {
		t.Errorf("of all kinds: %q", have)
	}
	alone := []string{"a\nb%25%3Fc", "blanks", "empty", "half", "held", "pid"}
	if have := listed(t, dir, false); !slices.Equal(have, alone) {
		t.Errorf("of this kind: %q", have)
	}
	if have := listedIf(t, dir, false, func(lock string) bool { return strings.HasSuffix(lock, "/text") }); !slices.Equal(have, append(alone, "text")) {
		t.Errorf("of this kind, after a try met the text: %q", have)
	}
	if err := h.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if have := listed(t, dir, true); slices.Contains(have, "held") {
		t.Errorf("after the release: %q", have)
	}
}

// listed returns the locks that a kind finds in a directory, by their addresses below that
// directory. all says whether other kinds are looked for, too.
func listed(t *testing.T, dir string, all bool) (locks []string) {
	t.Helper()
	return listedIf(t, dir, all, nil)
}

// listedIf is listed for somebody whose tries met foreign files.
func listedIf(t *testing.T, dir string, all bool, met func(lock string) bool) (locks []string) {
	t.Helper()
	tell := func(l backend.Listed) {
		if l.Err != nil || len(l.Report.Holders) != 1 {
			t.Errorf("the listing shows %s with %+v and the error %v, want one holder", l.Lock, l.Report, l.Err)
		}
		locks = append(locks, strings.TrimPrefix(l.Lock, Scheme+":"+dir+"/"))
	}
	s, err := openLock(t, dir).(*Lock).Search(t.Context())
	w := finder.Walk{Tree: s.Tree, Kinds: []finder.Kind{s.Kind}, Several: all, Listing: backend.Listing{Tell: tell, Met: met}}
	if err := errors.Join(err, w.Run(t.Context())); err != nil {
		t.Fatal(err)
	}
	return locks
}
