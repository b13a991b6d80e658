package owner

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"locksmith/backends/process"
)

// sleeping starts sleep(1) under another name, and returns its process.
func sleeping(t *testing.T, name string, fds ...*os.File) process.Process {
	t.Helper()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(sleep, path); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "600")
	cmd.ExtraFiles = fds
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	p, err := process.Find(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func stop(t *testing.T, p process.Process) {
	t.Helper()
	if err := syscall.Kill(p.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); !p.Stopped(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("a minute after SIGSTOP Stopped (process/proc_linux.go) does not say that pid %d is stopped", p.PID)
		}
	}
}

// parentAndHelper starts a shell, and below it a program that is called locksmith.
func parentAndHelper(t *testing.T) (parent, helper process.Process) {
	t.Helper()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "locksmith")
	if err := os.Symlink(sleep, path); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", path+" 600 & echo $!; wait")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	parent, err1 := process.Find(cmd.Process.Pid)
	helper, err2 := process.Find(pid)
	for deadline := time.Now().Add(time.Minute); process.Name(pid) != "locksmith"; time.Sleep(time.Millisecond) {
		if err1 != nil || err2 != nil || time.Now().After(deadline) {
			t.Fatalf("within a minute the shell, or the helper that it starts, is not to be seen: %v, %v", err1, err2)
		}
	}
	return parent, helper
}

// TestStopped: nobody is told to send SIGTERM to a stopped process, nor to end only a helper
// whose parent would keep the lock.
func TestStopped(t *testing.T) {
	parent, helper := parentAndHelper(t)
	r := Record{Place: Here(), Helper: helper, Parent: parent, User: strconv.Itoa(os.Geteuid())}
	h, p := strconv.Itoa(helper.PID), strconv.Itoa(parent.PID)
	if got := r.Ending(); got != "end it with: kill "+h {
		t.Errorf("nobody is stopped, and the advice is %q, want to end the helper, pid %s", got, h)
	}
	stop(t, parent)
	if got := r.Ending(); got != "let it go on with: kill -CONT "+p+"; or end it with: kill -9 "+p {
		t.Errorf("the parent is stopped, and the advice is %q, want CONT or KILL for it alone, pid %s", got, p)
	}
	stop(t, helper)
	if got := r.Ending(); got != "let it go on with: kill -CONT "+h+" "+p+"; or end it with: kill -9 "+h+" "+p {
		t.Errorf("helper and parent are stopped, and the advice is %q, want CONT or KILL for both, pids %s and %s", got, h, p)
	}
	r.Parent = process.Process{}
	if got := r.Ending(); got != "let it go on with: kill -CONT "+h+"; or end it with: kill -9 "+h {
		t.Errorf("a helper without a parent is stopped, and the advice is %q, want CONT or KILL for it, pid %s", got, h)
	}
	r.Parent = sleeping(t, "stranger")
	stop(t, r.Parent)
	if got := r.Ending(); got != "let it go on with: kill -CONT "+h {
		t.Errorf("the parent on record is a stopped stranger, and the advice is %q, want CONT for the helper alone, pid %s", got, h)
	}
	r.Parent = process.Process{}
	r.User = "mallory"
	if got := r.Stopped(); len(got) > 0 {
		t.Errorf("of another user's helper and parent these are told as stopped: %v, want none", got)
	}
}

// TestLeft: what a dead helper leaves is named by pid and program. Nobody is told to end a
// process that only the record names.
func TestLeft(t *testing.T) {
	line, err := process.NewLifeline()
	if err != nil {
		t.Fatal(err)
	}
	fd, err := line.Lend()
	if err != nil {
		t.Fatal(err)
	}
	lent := os.NewFile(uintptr(fd), "lifeline")
	defer lent.Close()
	child := sleeping(t, "left", lent)
	self, err := process.Find(os.Getpid()) // we made the lifeline, and have it, too
	if err != nil {
		t.Fatal(err)
	}
	r := Record{Place: Here(), Helper: gone(self), Lifeline: line.Name, User: strconv.Itoa(os.Geteuid())}
	left := r.Left()
	if !slices.Contains(left, child) || !slices.Contains(left, self) || len(left) != 2 {
		t.Errorf("%v is left, want %v and %v", left, self, child)
	}
	if got := Named([]process.Process{child}); got != "pid "+strconv.Itoa(child.PID)+" (left)" {
		t.Errorf("the child is named %q", got)
	}
	if got := r.EndingLeft(); got != "" {
		t.Errorf("its maker is there, so that the record lies: %s", got)
	}
	r.Parent = sleeping(t, "parent")
	if got := r.Left(); !slices.Equal(got, []process.Process{r.Parent}) {
		t.Errorf("%v is left, want the parent, %v", got, r.Parent)
	}
	if got := r.EndingLeft(); got != "" {
		t.Errorf("nothing shows that it was this helper's parent: %s", got)
	}
}

// TestGuarded: the pid beside a program's name is that program's. Of the processes that a helper
// has started, only its command has the lifeline, and not, say, an ssh.
func TestGuarded(t *testing.T) {
	self, err := process.Find(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	line, err := process.NewLifeline()
	if err != nil {
		t.Fatal(err)
	}
	r := Record{Place: Here(), Helper: self, Lifeline: line.Name}
	sleeping(t, "ssh")
	if got := r.Guarded(); got.PID != 0 {
		t.Errorf("a run that waits has no command yet, and guards %v, want none", got)
	}
	fd, err := line.Lend() // only now, because everything that is started later inherits it
	if err != nil {
		t.Fatal(err)
	}
	lent := os.NewFile(uintptr(fd), "lifeline")
	defer lent.Close()
	child := sleeping(t, "command", lent)
	if got := r.Guarded(); got != child {
		t.Errorf("of a run: %v, want %v", got, child)
	}
	r.Parent = process.Process{PID: 4242, Start: 1}
	if got := r.Guarded(); got != r.Parent {
		t.Errorf("a hold guards %v, want its parent on record, %v", got, r.Parent)
	}
	r.Parent, r.Place.Host = process.Process{}, "elsewhere"
	if got := r.Guarded(); got.PID != 0 {
		t.Errorf("a run on another machine guards %v, want none: it cannot be seen from here", got)
	}
}
