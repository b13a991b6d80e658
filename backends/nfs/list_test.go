//go:build unix

package nfs

import (
	"os"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
)

// TestList: a lock is known by the names that the algorithm gives its two directories.
func TestList(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"/L/G", "/L/R", "/L/more/G", "/L/more/R", "/none/G", "/none/x"} {
		if err := os.MkdirAll(dir+path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l, err := Open(backend.Address{Scheme: Scheme, Path: dir, Options: map[string]string{"create": "no"}})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	err = finder.List(t.Context(), l, "", backend.Listing{Tell: func(l backend.Listed) { all = append(all, l.Lock) }})
	want := "nfs:" + dir + "/L"
	if err != nil || len(all) != 2 || all[0] != want+"?create=no" || all[1] != want+"/more?create=no" {
		t.Errorf("list finds %v, %q", err, all)
	}
}
