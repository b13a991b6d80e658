//go:build unix

package backendtest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
)

// RoleUser is the part of a copy of the test binary that calls PlayUser.
const RoleUser = "user"

const (
	umaskVariable = "LOCKSMITH_TEST_UMASK"
	wishVariable  = "LOCKSMITH_TEST_WISH"
)

// A User is another user's process, which takes a lock and says so.
type User struct {
	cmd   *exec.Cmd
	stdin io.Closer
	lines *bufio.Scanner
}

// As starts a process of another user, who wishes for a lock; PlayUser gets the wish.
func As(t *testing.T, uid, umask int, wish string) *User {
	t.Helper()
	cmd := Copy(t, RoleUser, umaskVariable+"="+strconv.Itoa(umask), wishVariable+"="+wish)
	cmd.Dir, cmd.Stderr = "/", os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid), Groups: []uint32{Staff}}}
	stdin, err := cmd.StdinPipe()
	MustWork(t, err)
	stdout, err := cmd.StdoutPipe()
	MustWork(t, err)
	MustWork(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return &User{cmd, stdin, bufio.NewScanner(stdout)}
}

// PlayUser is the other side of As; it returns the exit status. The wish is granted in a
// process of its own.
func PlayUser(grant func(ctx context.Context, wish string) (backend.Hold, error)) int {
	umask, err := strconv.Atoi(os.Getenv(umaskVariable))
	if err != nil {
		panic(err)
	}
	unix.Umask(umask)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	h, err := grant(ctx, os.Getenv(wishVariable))
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

// MustSay waits for the next line and returns it.
func (u *User) MustSay(t *testing.T, want string) string {
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
		return line
	case <-time.After(2 * patience):
		t.Fatalf("it does not say %s", want)
		return ""
	}
}

// LetGo ends the process's input, upon which it releases the lock.
func (u *User) LetGo(t *testing.T) {
	t.Helper()
	MustWork(t, u.stdin.Close())
	u.MustSay(t, "RELEASED")
}

// Kill ends it with -9.
func (u *User) Kill(t *testing.T) {
	t.Helper()
	MustWork(t, u.cmd.Process.Kill())
	_ = u.cmd.Wait()
}
