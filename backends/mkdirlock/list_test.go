//go:build unix

package mkdirlock

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/backends/mkdirlock/labels"
)

const (
	oneID   = "60000-0123456789abcdef0123456789abcdef"
	otherID = "60000-ffffffffffffffffffffffffffffffff"
)

// TestList: list tells which directories are locks, and who has them.
func TestList(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{
		"empty", "files/none",
		"held/x." + oneID + "/1.1.x", "held.r." + otherID + "/x." + otherID + "/1.1.x",
		"waited.r." + oneID + "/x." + oneID, "waited.r." + otherID + "/x." + otherID, // has only waiters
		"tree/fence.3", "tree/fence.4", "tree/lock/x." + oneID + "/1.1.x", "tree/r." + otherID + "/x." + otherID,
		"free/fence.2", "free/more/s." + oneID, // a lock in a lock
		"nfs/G", "nfs/R", "lock/x." + oneID, "probe.0123456789abcdef0123456789abcdef",
	} {
		mustWork(t, os.MkdirAll(filepath.Join(dir, path), 0o755))
	}
	mustWork(t, os.Remove(filepath.Join(dir, "files/none")))
	mustWork(t, os.WriteFile(filepath.Join(dir, "files/a"), nil, 0o644))
	mustWork(t, os.Symlink(dir, filepath.Join(dir, "loop")))
	for place, want := range map[string][]string{
		"": {"/empty 1 0 0", "/free?style=dir 0 0 2", "/free/more 1 0 0", "/held 1 1 0", "/lock 1 0 0",
			"/tree?style=dir 1 1 4", "/waited 0 2 0"},
		"?style=dir": {"/free?style=dir 0 0 2", "/tree?style=dir 1 1 4"},
		"/held":      {"/held 1 1 0"},
		"/tree":      {"/tree?style=dir 1 1 4"},
		"/empty":     nil,
	} {
		path, style, _ := strings.Cut(place, "?style=")
		a := backend.Address{Scheme: Scheme, Path: dir + path}
		if style != "" {
			a.Options = map[string]string{"style": style}
		}
		l, err := Open(a)
		mustWork(t, err)
		var have []string
		err = finder.List(t.Context(), l, a.String(), backend.Listing{Others: []backend.Form{{"G", "R"}}, Tell: func(f backend.Listed) {
			mustWork(t, f.Err)
			lock := strings.TrimPrefix(f.Lock, "mkdir:"+dir)
			have = append(have, fmt.Sprint(lock, " ", len(f.Report.Holders), " ", len(f.Report.Waiters), " ", f.Report.Token))
		}})
		mustWork(t, err)
		if !slices.Equal(have, want) {
			t.Errorf("list of %q finds\n%q, want\n%q", place, have, want)
		}
	}
}

// TestListOptions: each lock is told by an address that opens it, with what the address of the place
// says of its server.
func TestListOptions(t *testing.T) {
	dir := t.TempDir()
	mustWork(t, os.MkdirAll(filepath.Join(dir, "plain/x."+oneID), 0o755), os.MkdirAll(filepath.Join(dir, "tree/fence.3"), 0o755))
	l, err := Open(backend.Address{Scheme: Scheme, Path: dir})
	mustWork(t, err)
	for options, want := range map[string][]string{
		"":                          {"/plain", "/tree?style=dir"},
		"?tls=implicit":             {"/plain?tls=implicit", "/tree?style=dir&tls=implicit"},
		"?style=plain&tls=implicit": {"/plain?tls=implicit", "/tree?style=dir&tls=implicit"},
		"?style=plain":              {"/plain", "/tree?style=dir"},
	} {
		var have []string
		lockOf(l).Address = backend.Name("ftps://host/locks" + options)
		mustWork(t, finder.List(t.Context(), l, "", backend.Listing{Tell: func(f backend.Listed) {
			have = append(have, strings.TrimPrefix(f.Lock, "ftps://host/locks"))
		}}))
		if !slices.Equal(have, want) {
			t.Errorf("with %q list tells %q, want %q", options, have, want)
		}
	}
}

// TestIsOurs: a directory with any other name in it is not one that we have just made, so we do
// not open it to others.
func TestIsOurs(t *testing.T) {
	const ticket = "2000-0123456789abcdef0123456789abcdef"
	for name, want := range map[string]bool{
		"x." + ticket: true, "s." + ticket: true, "r." + ticket: true, labels.LockName: true, "fence.2": true,
		"probe.0123456789abcdef0123456789abcdef": true,
		"x.y":                                    false, "letters": false, ".ssh": false, "lock.txt": false, "fence.": false,
	} {
		if got := labels.IsOurs(name); got != want {
			t.Errorf("IsOurs of %s is %t", name, got)
		}
	}
}
