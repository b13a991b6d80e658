//go:build linux

package security

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/test/lab"
)

const (
	roleReader  = "reader"
	readerPlace = "LOCKSMITH_TEST_READS"
)

// readAndLock is the role of a user who takes the kernel's lock, shared, on whatever comes up at a path
// that the user may read, and keeps it. It ends when it is killed.
func readAndLock() int {
	path, test := os.Getenv(readerPlace), os.Getppid()
	fmt.Println("reading")
	for os.Getppid() == test {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err == nil && unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB) != nil {
			_ = unix.Close(fd)
		}
		time.Sleep(time.Millisecond)
	}
	return 0
}

// TestReader: a user who may only read what root makes tries to have the kernel's lock on it first.
// strace holds root's own calls for that lock up, so that the reader is certain to come between. Root
// gets its lock all the same. A flock: lock is a file that stays, so there the reader has it, and root
// is told.
func TestReader(t *testing.T) {
	lab.NeedRoot(t)
	strace := lab.NeedProgram(t, "strace")
	for _, k := range append(kinds, kind{"flock", ""}) {
		t.Run(k.String(), func(t *testing.T) {
			t.Parallel()
			dir := publicDir(t, 0o755)
			path := filepath.Join(dir, "lock")
			reader := lab.Start(t, as(nobody, lab.Copy(roleReader, readerPlace+"="+path)))
			reader.Line()
			run := exec.Command(strace, "-f", "-o", "/dev/null", "-e", "trace=flock,fcntl", "-e", "inject=flock,fcntl:delay_enter=300000:when=1",
				program(t), "run", "-n", k.at(path), "--", "true")
			run.Env = command(t).Env
			if r := finish(t, run); k.scheme == "flock" {
				r.mustSay(t, 75, "held by pid")
			} else {
				r.mustSay(t, 0)
			}
			reader.Kill()
			mustTakeAgain(t, k.at(path))
		})
	}
}
