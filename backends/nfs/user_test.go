package nfs

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/backendtest"
	"locksmith/protocol"
)

const (
	roleUser      = "user"
	pathVariable  = "LOCKSMITH_TEST_PATH"
	modeVariable  = "LOCKSMITH_TEST_MODE"
	umaskVariable = "LOCKSMITH_TEST_UMASK"
)

// staff is the group that the users of these tests have in common.
const staff = 4242

// A user is another user's process, which takes the lock and says so.
type user struct {
	cmd   *exec.Cmd
	stdin io.Closer
	lines *bufio.Scanner
}

// as starts a process of another user, who takes the lock.
func as(t *testing.T, uid, umask int, path, mode string) *user {
	t.Helper()
	cmd := backendtest.Copy(t, roleUser, pathVariable+"="+path, modeVariable+"="+mode, umaskVariable+"="+strconv.Itoa(umask))
	cmd.Dir, cmd.Stderr = "/", os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid), Groups: []uint32{staff}}}
	stdin, err := cmd.StdinPipe()
	mustWork(t, err)
	stdout, err := cmd.StdoutPipe()
	mustWork(t, err)
	mustWork(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return &user{cmd, stdin, bufio.NewScanner(stdout)}
}

// playUser is the other side of as.
func playUser() int {
	umask, err := strconv.Atoi(os.Getenv(umaskVariable))
	if err != nil {
		panic(err)
	}
	unix.Umask(umask)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	h, err := acquireAt(ctx, os.Getenv(pathVariable), os.Getenv(modeVariable))
	if err != nil {
		fmt.Println("ERR", backend.CodeOf(err), err)
		return 1
	}
	fmt.Println("OK", h.ID())
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := h.Release(ctx); err != nil {
		fmt.Println("ERR", backend.CodeOf(err), err)
		return 1
	}
	fmt.Println("RELEASED")
	return 0
}

func acquireAt(ctx context.Context, path, mode string) (backend.Hold, error) {
	l, err := Open(backend.Address{Scheme: Scheme, Path: path})
	if err != nil {
		return nil, err
	}
	a, err := l.Attempt(requestFor(mode))
	if err != nil {
		return nil, err
	}
	h, err := backend.Acquire(ctx, a)
	if err != nil {
		_ = a.Withdraw(context.Background())
	}
	return h, err
}

func (u *user) mustSay(t *testing.T, want string) {
	t.Helper()
	said := make(chan string, 1)
	go func() {
		u.lines.Scan()
		said <- u.lines.Text()
	}()
	select {
	case line := <-said:
		if !strings.HasPrefix(line, want) {
			t.Fatalf("it says %q, want %s", line, want)
		}
	case <-time.After(2 * patience):
		t.Fatalf("it does not say %s", want)
	}
}

func (u *user) letGo(t *testing.T) {
	t.Helper()
	mustWork(t, u.stdin.Close())
	u.mustSay(t, "RELEASED")
}

func (u *user) kill(t *testing.T) {
	t.Helper()
	mustWork(t, u.cmd.Process.Kill())
	_ = u.cmd.Wait()
}

// places are lock directories that several users may write to, and what the
// umask of those is who do.
var places = []struct {
	name  string
	mode  os.FileMode
	umask int
}{
	{"open to all", 0o777, 0o022},
	{"open to all, umask 077", 0o777, 0o077},
	{"sticky", 0o777 | os.ModeSticky, 0o022},
	{"open to a group", 0o770, 0o022},
	{"open to a group, umask 077", 0o770, 0o077},
	{"open to a group that is inherited", 0o770 | os.ModeSetgid, 0o077},
}

// eachPlace runs a test as root with a lock directory of each kind.
func eachPlace(t *testing.T, test func(t *testing.T, path string, umask int)) {
	needRoot(t)
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(publicDir(t, 0o755), "lock")
			mustWork(t, os.Mkdir(path, 0o700), os.Chown(path, 0, staff), os.Chmod(path, p.mode))
			test(t, path, p.umask)
		})
	}
}

func TestUsersTakeTurns(t *testing.T) {
	eachPlace(t, func(t *testing.T, path string, umask int) {
		alice := as(t, 1001, umask, path, "exclusive")
		alice.mustSay(t, "OK")
		bob := as(t, 1002, umask, path, "exclusive")
		alice.letGo(t)
		bob.mustSay(t, "OK")
		bob.letGo(t)
		mustBeTidy(t, path)
		for _, name := range []string{"R", "G"} {
			st, err := os.Stat(filepath.Join(path, name))
			if err != nil || st.Mode()&os.ModeSticky != 0 {
				t.Errorf("%s: %v, %v", name, st.Mode(), err)
			}
		}
	})
}

func TestUsersShare(t *testing.T) {
	eachPlace(t, func(t *testing.T, path string, umask int) {
		alice := as(t, 1001, umask, path, "shared")
		alice.mustSay(t, "OK")
		bob := as(t, 1002, umask, path, "shared")
		bob.mustSay(t, "OK")
		alice.letGo(t)
		carol := as(t, 1003, umask, path, "exclusive")
		bob.letGo(t)
		carol.mustSay(t, "OK")
		carol.letGo(t)
		mustBeTidy(t, path)
	})
}

// TestUsersBreakEachOthersDead: the dead one was another user.
func TestUsersBreakEachOthersDead(t *testing.T) {
	for _, mode := range modes() {
		t.Run(mode, func(t *testing.T) {
			eachPlace(t, func(t *testing.T, path string, umask int) {
				alice := as(t, 1001, umask, path, mode)
				alice.mustSay(t, "OK")
				alice.kill(t)
				bob := as(t, 1002, umask, path, "exclusive")
				bob.mustSay(t, "OK")
				bob.letGo(t)
				mustBeTidy(t, path)
			})
		})
	}
}

func TestUnwritable(t *testing.T) {
	needRoot(t)
	path := filepath.Join(publicDir(t, 0o755), "lock")
	as(t, 1001, 0o022, path, "exclusive").mustSay(t, "ERR "+string(protocol.Permission))
	if _, err := os.Lstat(path); err == nil {
		t.Error("it was made all the same")
	}
	mustWork(t, try(t, path, "exclusive")) // root's, with permissions for root only
	before := listing(t, path)
	for _, mode := range modes() {
		as(t, 1001, 0o022, path, mode).mustSay(t, "ERR "+string(protocol.Permission))
	}
	if after := listing(t, path); after != before {
		t.Errorf("there was\n%s, now\n%s", before, after)
	}
}
