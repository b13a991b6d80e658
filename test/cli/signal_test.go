//go:build unix

package cli

import (
	"path/filepath"
	"syscall"
	"testing"

	"locksmith/protocol"
	"locksmith/test/lab"
)

// TestToldToEnd: a helper that is told to end before its parent lets go says so by its exit
// status. Some parents look at nothing else.
func TestToldToEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		last   func(h *lab.Helper)
		status int
	}{
		"by its parent": {func(h *lab.Helper) { h.LetGo() }, 0},
		"by a signal":   {func(h *lab.Helper) { h.Signal(syscall.SIGTERM) }, 143},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lock := filepath.Join(t.TempDir(), "lock")
			h := hold(t, lock)
			c.last(h)
			h.Says(protocol.WordReleased)
			h.Exits(c.status)
			mustBeFree(t, lock)
		})
	}
}
