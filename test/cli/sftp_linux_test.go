package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/backends/process"
	"locksmith/test/lab"
	"locksmith/test/sftpserver"
)

// bySSH is a command of locksmith with another ssh.
func bySSH(t *testing.T, ssh string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("locksmith", args...)
	cmd.Env = append(os.Environ(), "LOCKSMITH_SSH="+ssh)
	return cmd
}

// childrenOf returns the pids of a process's children.
func childrenOf(pid int) (pids []int) {
	all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range all {
		text, _ := os.ReadFile(file)
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// TestSSHEndsWithHelper: the ssh ends with its helper, however that ends.
func TestSSHEndsWithHelper(t *testing.T) {
	t.Parallel()
	s := sftpserver.Start(t, sftpserver.Options{})
	for name, end := range map[string]func(*lab.Helper){
		"killed": func(h *lab.Helper) { h.Kill() },
		"let go": func(h *lab.Helper) { h.LetGo() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := lab.Hold(t, bySSH(t, s.SSH, "hold", s.Address("locks-"+strings.ReplaceAll(name, " ", ""))))
			h.Held()
			ssh := childrenOf(h.PID())
			if len(ssh) != 1 {
				t.Fatalf("the helper's children are %v, want one ssh", ssh)
			}
			end(h)
			lab.Eventually(t, "its ssh has ended", func() bool {
				st, err := process.ReadStat(ssh[0])
				return err != nil || st.Ended // without anybody who waits for orphans it stays a zombie
			})
		})
	}
}

// TestLostConnection: an ssh that is killed costs only another ssh. The release may come before that
// has logged in, which takes long on a busy machine.
func TestLostConnection(t *testing.T) {
	t.Parallel()
	s := sftpserver.Start(t, sftpserver.Options{})
	h := lab.Hold(t, bySSH(t, s.SSH, "hold", "--lease", "10m", "--refresh", "1s", "--release-timeout", "5m", s.Address("lock")))
	h.Held()
	if status, said := lab.Run(t, bySSH(t, s.SSH, "list", s.Address(""))); status != 0 || !strings.HasPrefix(said, s.Address("lock")+": held by ") {
		t.Errorf("list after a lost connection: status %d: %s", status, said)
	}
	killed := childrenOf(h.PID())
	for _, pid := range killed {
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	lab.Eventually(t, "there is another ssh", func() bool {
		now := childrenOf(h.PID())
		return len(now) == 1 && !slices.Contains(killed, now[0])
	}, h.Stderr)
	h.Release()
}

// TestRunOverSSH: a command whose lock is broken is ended. run does not wait for its ssh.
func TestRunOverSSH(t *testing.T) {
	t.Parallel()
	s := sftpserver.Start(t, sftpserver.Options{})
	lock := s.Address("lock")
	run := lab.Start(t, bySSH(t, s.SSH, "run", "--lease", "2m", "--refresh", "1s", lock, "--", "sh", "-c", "echo $LOCKSMITH_ID; sleep 600"))
	id := run.Line()
	if status, said := lab.Run(t, bySSH(t, s.SSH, "break", "--force", "--id", id, lock)); status != 0 || !strings.Contains(said, "what it guards may still run for 2m0s") {
		t.Fatalf("break: status %d: %s", status, said)
	}
	run.Exits(79)
	if status, said := lab.Run(t, bySSH(t, s.SSH, "run", lock, "--", "true")); status != 0 {
		t.Errorf("after a break another run: status %d, want 0: %s", status, said)
	}
}

// TestWalkThroughSFTP is the guide's walk-through: one account that can do nothing else, one
// key, and two hosts, each with its own home.
func TestWalkThroughSFTP(t *testing.T) {
	t.Parallel()
	jail := rootsDirectory(t)
	guide := func(begin string) string { return lab.BlockOfGuide(t, begin) }
	places := strings.NewReplacer("/srv/loader", jail, "/etc/ssh/loader.keys", filepath.Join(jail, "keys"), "loader", sftpserver.Account)
	config := guide("# /etc/ssh/sshd_config.d/loader.conf")
	s := sftpserver.Start(t, sftpserver.Options{Extra: places.Replace(config)})
	locks := filepath.Join(jail, "locks")
	for _, err := range []error{os.Mkdir(locks, 0o755), os.Chown(locks, s.UID, s.GID),
		copyFile(s.Key+".pub", filepath.Join(jail, "keys"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	profiles := strings.NewReplacer("files.example.org", s.Addr, "loader", s.User, "ssh -i /etc/locksmith/key", s.SSH).
		Replace(guide("# /etc/locksmith/profiles.toml\n[billing]\n"))
	host := func(args ...string) *exec.Cmd {
		home := t.TempDir()
		file := filepath.Join(home, "locksmith", "profiles.toml")
		if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(profiles), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("locksmith", args...)
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home)
		return cmd
	}
	if status, said := lab.Run(t, host("doctor", "billing")); status != 0 || !strings.Contains(said, "fit for locks") {
		t.Errorf("doctor as the guide has it: status %d: %s", status, said)
	}
	first := lab.Hold(t, host("hold", "billing"))
	first.Held()
	if status, said := lab.Run(t, host("run", "--timeout", "0", "billing", "--", "true")); status != 75 {
		t.Errorf("the second host gets a lock that the first holds: status %d: %s", status, said)
	}
	waiting := lab.Start(t, host("run", "billing", "--", "echo", "second"))
	first.Release()
	if line := waiting.Line(); line != "second" {
		t.Errorf("the second host, once the first let go, says %q", line)
	}
	waiting.Exits(0)
	if _, err := os.Stat(filepath.Join(locks, "billing", "G")); err != nil {
		t.Error("the lock is not where the guide has it:", err)
	}
}

// rootsDirectory is a directory to which only root may write, up to the root, as sshd wants it.
func rootsDirectory(t *testing.T) string {
	t.Helper()
	lab.NotShort(t, "starts an sshd")
	lab.NeedRoot(t)
	dir, err := os.MkdirTemp("/run", "jail-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}
