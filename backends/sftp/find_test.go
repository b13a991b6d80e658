//go:build unix

package sftp

import (
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/backends/generation/symlinks"
	"locksmith/test/backendtest"
)

// TestList: locks are found, though they have the form of another kind, nfs:.
func TestList(t *testing.T) {
	t.Parallel()
	f := startFake(t)
	h := backendtest.MustAcquire(t, attemptOf(t, f.open(t)))
	a := testAddress
	a.Path = "/"
	place := newLock(f.server(t, a))
	var found []backend.Listed
	err := finder.List(t.Context(), place, "", backend.Listing{
		Others: []backend.Form{symlinks.Form()},
		Tell:   func(l backend.Listed) { found = append(found, l) },
	})
	if err != nil || len(found) != 1 || found[0].Lock != testAddress.String() || len(found[0].Report.Holders) != 1 || found[0].Report.Holders[0].ID != h.ID() {
		t.Errorf("list finds %+v, %v; want the lock with its holder", found, err)
	}
	backendtest.MustRelease(t, h)
}
