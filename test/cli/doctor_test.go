//go:build unix

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

// TestDoctorNoRmdir: doctor refuses a server where locks could be made and never released.
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
				t.Errorf("doctor at a server without RMD: %v; want 73, and why\n%s", err, out)
			}
		})
	}
}

// TestDoctorInterrupted: a doctor that a signal ends removes what it made, and tells the signal.
func TestDoctorInterrupted(t *testing.T) {
	lab.NotShort(t, "starts servers")
	t.Parallel()
	made := make(chan struct{}, 1000)
	s := ftpserver.Start(t, "embedded", ftpserver.Options{Hook: func(op, _ string) error {
		if op == "mkdir" {
			made <- struct{}{}
			time.Sleep(10 * time.Millisecond) // so that doctor is in the middle of it
		}
		return nil
	}})
	p := lab.Start(t, doctor(t, s))
	for range 5 {
		select {
		case <-made:
		case <-time.After(lab.Patience):
			t.Fatal("doctor makes nothing at the server")
		}
	}
	p.Signal(syscall.SIGTERM)
	p.Exits(128 + int(syscall.SIGTERM))
	if left, err := os.ReadDir(s.Dir); err != nil || len(left) > 0 {
		t.Errorf("doctor, ended by a signal, left behind %v, %v\n%s", left, err, p.Rest())
	}
}

// doctorAt: real servers are fit for locks, wherever a path begins.
func doctorAt(t *testing.T, s *ftpserver.Server, address string) {
	cmd := exec.Command("locksmith", "doctor", "--idle", "0", address)
	cmd.Env = append(os.Environ(), "LOCKSMITH_PASSWORD="+s.Password)
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "\nunfit ") {
		t.Errorf("doctor of a real server: %v, want fit\n%s", err, out)
	}
	if left, err := os.ReadDir(s.Dir); err != nil || len(left) > 0 {
		t.Errorf("doctor left behind %v, %v", left, err)
	}
}
