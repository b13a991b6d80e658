package sftplab

import (
	"flag"
	"os"
	"os/exec"
	"testing"

	"locksmith/test/lab"
	"locksmith/test/sftpserver"
)

var long = flag.Bool("long", false, "leave nothing out that takes long")

func TestMain(m *testing.M) {
	lab.Parallel(8) // most of them wait
	lab.Main(m, nil)
}

// locksmith is a command of a user who has the key of a server's account.
func locksmith(t *testing.T, s *sftpserver.Server, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(lab.Program(t, "cmd/locksmith"), args...)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "LOCKSMITH_SSH="+s.SSH)
	return cmd
}
