//go:build unix

package link

import (
	"os"
	"path/filepath"
	"testing"

	"locksmith/backends/owner"
	"locksmith/protocol"
	"locksmith/test/backendtest"
)

// TestNotWritable: a user that may not make files there cannot lock.
func TestNotWritable(t *testing.T) {
	if !backendtest.AsNobody(t) {
		return
	}
	dir := backendtest.NobodysDir(t, 0o555)
	mustFail(t, try(filepath.Join(dir, "lock"), nil), protocol.Permission, "allow this user to write there")
	mustWork(t, os.Chmod(dir, 0o755))
	mustBeEmpty(t, dir)
}

// TestNotReadable: a lock that we cannot read is held by somebody unknown.
func TestNotReadable(t *testing.T) {
	if !backendtest.AsNobody(t) {
		return
	}
	dir := backendtest.NobodysDir(t, 0o755)
	path := filepath.Join(dir, "lock")
	mustWork(t, os.WriteFile(path, []byte("17\n"), 0))
	a := attemptAt(t, path, backendtest.Request())
	held := mustBeHeld(t, a)
	if held.Holder.Verdict != owner.Unknown || held.Holder.Note == "" {
		t.Errorf("a lock that cannot be read is held by %+v, want unknown, with a note", held.Holder)
	}
	mustWithdraw(t, a)
	mustBreakFileByAge(t, path)
}
