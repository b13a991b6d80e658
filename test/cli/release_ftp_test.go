//go:build unix

package cli

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"locksmith/protocol"
	"locksmith/test/ftpserver"
	"locksmith/test/lab"
)

// TestReleaseDeadServer: a parent that lets go of a lock at a dead server is told once what is
// wrong, and at the end what becomes of the lock.
func TestReleaseDeadServer(t *testing.T) {
	lab.NotShort(t, "starts servers")
	t.Parallel()
	s := ftpserver.Start(t, "embedded", ftpserver.Options{})
	cmd := exec.Command("locksmith", "hold", "--release-timeout", "6s", "ftp://"+s.User+"@"+s.Addr+"/L")
	cmd.Env = append(os.Environ(), "LOCKSMITH_PASSWORD="+s.Password)
	h := lab.Hold(t, cmd)
	h.Held()
	s.Stop()
	h.LetGo()
	if lost := h.Says(protocol.WordLost); lost.Value("code") != string(protocol.Unreleased) || !strings.Contains(lost.Text, "frees itself") {
		t.Errorf("the release at a dead server says %+v, want LOST unreleased", lost)
	}
	h.Exits(79)
	if said := h.Stderr(); strings.Count(said, "[WARN]") != 1 {
		t.Errorf("at a dead server hold says, want one warning and no more:\n%s", said)
	}
}
