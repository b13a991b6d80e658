package cli

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksmith/test/ftpserver"
	"locksmith/test/lab"
)

// doctor runs the command on a lock at a server.
func doctor(t *testing.T, s *ftpserver.Server, flags ...string) *exec.Cmd {
	t.Helper()
	flags = append(flags, "ftp://"+s.User+"@"+s.Addr+"/locks")
	cmd := exec.Command("locksmith", append([]string{"doctor"}, flags...)...)
	cmd.Env = append(os.Environ(), "LOCKSMITH_PASSWORD="+s.Password)
	return cmd
}

// TestDoctorNoRmdir: locks would be made there, and never be released.
func TestDoctorNoRmdir(t *testing.T) {
	lab.NotShort(t, "starts servers")
	t.Parallel()
	for _, kind := range []string{"embedded", "proftpd"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := ftpserver.Start(t, kind, ftpserver.Options{NoRmdir: true})
			out, err := doctor(t, s, "--idle", "0").Output()
			var exit *exec.ExitError
			if exit, _ = err.(*exec.ExitError); exit == nil || exit.ExitCode() != 73 || !strings.Contains(string(out), "\nunfit   remove directories ") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestDoctorInterrupted: what it made is removed, and the signal is told.
func TestDoctorInterrupted(t *testing.T) {
	lab.NotShort(t, "starts servers")
	t.Parallel()
	made := make(chan struct{}, 1000)
	s := ftpserver.Start(t, "embedded", ftpserver.Options{Hook: func(op, _ string) error {
		if op == "mkdir" {
			made <- struct{}{}
			time.Sleep(10 * time.Millisecond) // so that it is in the middle of it
		}
		return nil
	}})
	p := lab.Start(t, doctor(t, s))
	for range 5 {
		select {
		case <-made:
		case <-time.After(lab.Patience):
			t.Fatal("it makes nothing")
		}
	}
	p.Signal(syscall.SIGTERM)
	p.Exits(128 + int(syscall.SIGTERM))
	if left, err := os.ReadDir(s.Dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v\n%s", left, err, p.Rest())
	}
}

// doctorAt: wherever a path begins, real servers are fit for locks there.
func doctorAt(t *testing.T, s *ftpserver.Server, address string) {
	cmd := exec.Command("locksmith", "doctor", "--idle", "0", address)
	cmd.Env = append(os.Environ(), "LOCKSMITH_PASSWORD="+s.Password)
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "\nunfit ") {
		t.Errorf("%v\n%s", err, out)
	}
	if left, err := os.ReadDir(s.Dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
