//go:build linux

package nfslab

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// keeps is how many generations may stay in a lock that nobody uses.
const keeps = 4

// atRest makes sure that a lock that nobody uses has nothing left in it but its
// newest generations.
func atRest(t *testing.T, lock string) {
	t.Helper()
	generations, _ := filepath.Glob(onServer(lock) + "/G/*")
	reservations, err := os.ReadDir(onServer(lock) + "/R")
	if len(generations) > keeps || len(generations) == 0 || len(reservations) > 0 || err != nil {
		t.Errorf("left in the lock (%v):\n%s", err, strings.Join(tree(lock), "\n"))
	}
	noNFSFiles(t, lock)
}

// noNFSFiles makes sure that no client kept an open file that was removed. It
// may take a moment to remove such a file after its last reader is gone.
func noNFSFiles(t *testing.T, lock string) {
	t.Helper()
	eventually(t, "no .nfs files in "+lock, func() bool {
		return !slices.ContainsFunc(tree(lock), func(path string) bool {
			return strings.HasPrefix(filepath.Base(path), ".nfs")
		})
	})
}
