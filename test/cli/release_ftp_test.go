package cli

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"

	"locksmith/test/ftpserver"
)

// TestReleaseDeadServer: who lets go of a lock at a server that died is told once what
// is wrong, and at the end what becomes of the lock.
func TestReleaseDeadServer(t *testing.T) {
	s := ftpserver.Start(t, "embedded", ftpserver.Options{})
	var said strings.Builder
	cmd := exec.Command("locksmith", "hold", "--release-timeout", "3s", "ftp://"+s.User+"@"+s.Addr+"/L")
	cmd.Env = append(os.Environ(), "LOCKSMITH_PASSWORD="+s.Password)
	cmd.Stderr = &said
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "OK ") {
		t.Fatalf("%q, %s", lines.Text(), &said)
	}
	s.Stop()
	_ = stdin.Close()
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "LOST code=unreleased ") || !strings.Contains(lines.Text(), "frees%20itself") && !strings.Contains(lines.Text(), "frees itself") {
		t.Errorf("%q", lines.Text())
	}
	_ = cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != 79 || strings.Count(said.String(), "[WARN]") != 1 {
		t.Errorf("status %d:\n%s", status, &said)
	}
	t.Logf("%s", &said)
}
