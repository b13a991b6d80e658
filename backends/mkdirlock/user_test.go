package mkdirlock

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
	roleUser     = "user"
	userVariable = "LOCKSMITH_TEST_USER" // umask, style, mode, whether it waits, path
)

// staff is the group that the users of these tests have in common.
const staff = 4242

// A user is another user's process, which takes the lock and says so.
type user struct {
	cmd   *exec.Cmd
	stdin io.Closer
	lines *bufio.Scanner
}

// as starts a process of another user, who takes the lock, or tries once if it
// waits is "0".
func as(t *testing.T, uid, umask int, path string, k kindOfLock, mode, waits string) *user {
	t.Helper()
	what := strings.Join([]string{strconv.Itoa(umask), fmt.Sprint(int(k.style)), mode, waits, path}, " ")
	cmd := backendtest.Copy(t, roleUser, userVariable+"="+what)
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
	what := strings.SplitN(os.Getenv(userVariable), " ", 5)
	umask, err := strconv.Atoi(what[0])
	if err != nil {
		panic(err)
	}
	unix.Umask(umask)
	k := plain
	if what[1] != "0" {
		k = tree
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	h, err := acquireAt(ctx, what[4], k, what[2], what[3] != "0")
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

// acquireAt acquires a lock in a process of its own.
func acquireAt(ctx context.Context, path string, k kindOfLock, mode string, waits bool) (backend.Hold, error) {
	l, err := Open(backend.Address{Scheme: Scheme, Path: path, Options: options(k)})
	if err != nil {
		return nil, err
	}
	a, err := l.Attempt(requestFor(mode))
	if err != nil {
		return nil, err
	}
	var h backend.Hold
	if waits {
		h, err = backend.Acquire(ctx, a)
	} else {
		h, err = a.Try(ctx)
	}
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

// places are directories that several users may make locks in, and what the umask
// of those is who do.
var places = []struct {
	name  string
	mode  os.FileMode
	umask int
}{
	{"open to all", 0o777, 0o022},
	{"open to all, umask 077", 0o777, 0o077},
	{"open to a group", 0o770, 0o022},
	{"open to a group, umask 077", 0o770, 0o077},
	{"open to a group that is inherited", 0o770 | os.ModeSetgid, 0o077},
}

// eachPlace runs a test as root with a lock in a directory of each kind.
func eachPlace(t *testing.T, test func(t *testing.T, path string, k kindOfLock, umask int)) {
	needRoot(t)
	for _, p := range places {
		for _, k := range []kindOfLock{plain, tree} {
			t.Run(name(p.name, " ", k), func(t *testing.T) {
				dir := publicDir(t, 0o755)
				mustWork(t, os.Chown(dir, 0, staff), os.Chmod(dir, p.mode))
				test(t, filepath.Join(dir, "lock"), k, p.umask)
			})
		}
	}
}

func TestUsersTakeTurns(t *testing.T) {
	eachPlace(t, func(t *testing.T, path string, k kindOfLock, umask int) {
		alice := as(t, 1001, umask, path, k, "exclusive", "1")
		alice.mustSay(t, "OK")
		bob := as(t, 1002, umask, path, k, "exclusive", "1")
		alice.letGo(t)
		bob.mustSay(t, "OK")
		bob.letGo(t)
		nothingLeft(t, path)
	})
}

// TestUsersBreakEachOthersDead: the dead one was another user, and so was a dead
// waiter.
func TestUsersBreakEachOthersDead(t *testing.T) {
	eachPlace(t, func(t *testing.T, path string, k kindOfLock, umask int) {
		for _, mode := range modes(k) {
			alice := as(t, 1001, umask, path, k, mode, "1")
			alice.mustSay(t, "OK")
			alice.kill(t)
			bob := as(t, 1002, umask, path, k, "exclusive", "1")
			bob.mustSay(t, "OK")
			bob.letGo(t)
			nothingLeft(t, path)
		}
	})
}

// TestSticky: in a directory like /tmp nobody can remove or rename what others
// made there. Each can lock; a dead one stays until its own user comes.
func TestSticky(t *testing.T) {
	needRoot(t)
	for _, k := range []kindOfLock{plain, tree} {
		t.Run(k.String(), func(t *testing.T) {
			path := filepath.Join(publicDir(t, 0o777|os.ModeSticky), "lock")
			alice := as(t, 1001, 0o022, path, k, "exclusive", "1")
			alice.mustSay(t, "OK")
			bob := as(t, 1002, 0o022, path, k, "exclusive", "1")
			alice.letGo(t)
			bob.mustSay(t, "OK")
			bob.kill(t)
			carol := as(t, 1003, 0o022, path, k, "exclusive", "0")
			if k == tree { // L is not sticky: it heals itself
				carol.mustSay(t, "OK")
				carol.letGo(t)
				return
			}
			carol.mustSay(t, "ERR "+string(protocol.Held))
			if !strings.Contains(carol.lines.Text(), "sticky") {
				t.Error(carol.lines.Text())
			}
			bob = as(t, 1002, 0o022, path, k, "exclusive", "1")
			bob.mustSay(t, "OK")
			bob.letGo(t)
			nothingLeft(t, path)
		})
	}
}

func TestUnwritable(t *testing.T) {
	needRoot(t)
	for _, k := range []kindOfLock{plain, tree} {
		t.Run(k.String(), func(t *testing.T) {
			dir := publicDir(t, 0o755)
			path := filepath.Join(dir, "lock")
			mustStay(t, dir, func() {
				as(t, 1001, 0o022, path, k, "exclusive", "0").mustSay(t, "ERR "+string(protocol.Permission))
			})
			h := acquired(t, attemptAt(t, path, k, "exclusive")) // root's, with permissions for root only
			for _, mode := range modes(k) {
				as(t, 1001, 0o022, path, k, mode, "0").mustSay(t, "ERR "+string(protocol.Permission))
			}
			mustStillHold(t, h)
			mustRelease(t, h)
			nothingLeft(t, path)
		})
	}
}
