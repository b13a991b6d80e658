//go:build unix

package backendtest

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/test/lab"
)

// RoleUser is the part of a copy of the test binary that calls PlayUser.
const RoleUser = "user"

const (
	umaskVariable = "LOCKSMITH_TEST_UMASK"
	wishVariable  = "LOCKSMITH_TEST_WISH"
)

// A User is another user's process, which takes a lock and says so.
type User struct{ *lab.Process }

// As starts a process of another user that wants a lock. PlayUser gets wish, which says which
// lock.
func As(t *testing.T, uid, umask int, wish string) User {
	t.Helper()
	cmd := userCommand(umask, wish)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid), Groups: []uint32{Staff}}}
	return User{lab.Start(t, cmd)}
}

func userCommand(umask int, wish string) *exec.Cmd {
	cmd := lab.Copy(RoleUser, umaskVariable+"="+strconv.Itoa(umask), wishVariable+"="+wish)
	cmd.Dir = "/"
	return cmd
}

// PlayUser is the other side of As, and returns the exit status. grant is called in the process
// of that user.
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

// Release ends the process's input. Then the process releases the lock.
func (u User) Release() {
	u.LetGo()
	u.Expect("RELEASED")
}

const (
	nobodyVariable = "LOCKSMITH_TEST_NOBODY" // the directory for the copy's files
	nobody         = 65534
)

// AsNobody reports whether permissions bind this process, so that the test is to go on. They do
// not bind root: for root AsNobody runs the same test in a copy of the test binary as another
// user, and returns false.
func AsNobody(t *testing.T) bool {
	t.Helper()
	if os.Getuid() != 0 {
		return true
	}
	dir := PublicDir(t, 0o755)
	if err := os.Chown(dir, nobody, nobody); err != nil {
		lab.Lacking(t, "cannot become another user: "+err.Error())
	}
	cmd := sameTest(t, nobodyVariable+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if err := runCopy(t, cmd); err != nil {
		t.Errorf("as uid %d: %v", nobody, err)
	}
	return false
}

// NobodysDir returns a directory of the user that AsNobody chose.
func NobodysDir(t *testing.T, mode os.FileMode) string {
	t.Helper()
	dir := os.Getenv(nobodyVariable)
	if dir == "" {
		return PublicDir(t, mode)
	}
	MustWork(t, os.Chmod(dir, mode))
	return dir
}

// PublicDir returns a directory that other users reach.
func PublicDir(t *testing.T, mode os.FileMode) string {
	t.Helper()
	dir := t.TempDir()
	MustWork(t, os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, mode))
	return dir
}

// sameTest is a copy of the test binary that runs this test alone.
func sameTest(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	cmd := lab.Copy("", env...)
	cmd.Args = append(cmd.Args, "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd.Dir, cmd.Stderr = "/", nil
	return cmd
}

func runCopy(t *testing.T, cmd *exec.Cmd) error {
	t.Helper()
	out, err := cmd.CombinedOutput()
	t.Logf("the copy says:\n%s", out)
	return err
}

// Staff is the group that the users of a test have in common.
const Staff = 4242

// A Place is a directory that several users may write to, and their umask.
type Place struct {
	Name  string
	mode  os.FileMode
	Umask int
}

// Places are the places in which each user may remove what others made.
var Places = []Place{
	{"open to all", 0o777, 0o022},
	{"open to all, umask 077", 0o777, 0o077},
	{"open to a group", 0o770, 0o022},
	{"open to a group, umask 077", 0o770, 0o077},
	{"open to a group that is inherited", 0o770 | os.ModeSetgid, 0o077},
}

// Sticky is a place like /tmp, in which nobody can remove what others made.
var Sticky = Place{"sticky", 0o777 | os.ModeSticky, 0o022}

// Open opens a directory to all users that may write to the place.
func (p Place) Open(t *testing.T, dir string) {
	t.Helper()
	MustWork(t, os.Chown(dir, 0, Staff), os.Chmod(dir, p.mode))
}
