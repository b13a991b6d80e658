package backendtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/protocol"
	"locksmith/test/lab"
)

// AsRoot reports whether this process may mount, so that the test is to go on. Else AsRoot runs
// the same test in a copy of the test binary that is root in a namespace of its own
// (user_namespaces(7)), and returns false.
func AsRoot(t *testing.T) bool {
	t.Helper()
	if os.Getuid() == 0 {
		return true
	}
	cmd := sameTest(t)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	err := runCopy(t, cmd)
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed):
		t.Error("the copy failed")
	case err != nil:
		lab.Lacking(t, "not root, nor may we have a user namespace: "+err.Error())
	}
	return false
}

// Memory returns a directory on a tmpfs of its own with these limits, as in "size=64k".
func Memory(t *testing.T, limits ...string) string {
	t.Helper()
	lab.NeedRoot(t)
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, strings.Join(append(limits, "mode=0755"), ",")); err != nil {
		lab.Lacking(t, "cannot mount a tmpfs: "+err.Error())
	}
	t.Cleanup(func() { MustWork(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	return dir
}

// Image returns a directory on a file system that mkfs makes in a file. If the kernel has no such
// file system, which test/run says, the test skips, on CI too.
func Image(t *testing.T, kind, size string, mkfs ...string) string {
	t.Helper()
	lab.NeedRoot(t)
	image, dir := filepath.Join(t.TempDir(), "image"), t.TempDir()
	for _, argv := range [][]string{{"truncate", "-s", size, image}, append(mkfs, image), {"mount", "-o", "loop", image, dir}} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			if argv[0] == "mount" && !kernelHas(t, kind) {
				t.Skip("this kernel has no " + kind)
			}
			lab.Lacking(t, fmt.Sprintf("%s: %v %s", argv[0], err, out))
		}
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v %s", err, out)
		}
	})
	return dir
}

// kernelHas is called after a mount, because a mount loads the module, if there is one.
func kernelHas(t *testing.T, kind string) bool {
	t.Helper()
	known, err := os.ReadFile("/proc/filesystems")
	MustWork(t, err)
	return strings.Contains(string(known), "\t"+kind+"\n")
}

// Remount changes the flags of a file system that is mounted.
func Remount(t *testing.T, dir string, flags uintptr) {
	t.Helper()
	MustWork(t, unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_BIND|flags, ""))
}

// fillUp makes a file that takes all the room there is.
func fillUp(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	MustWork(t, err)
	defer f.Close()
	block := make([]byte, 4096)
	for {
		_, err := f.Write(block)
		if errors.Is(err, unix.ENOSPC) {
			return
		}
		MustWork(t, err)
	}
}

// UseUpInodes makes directories in a new directory until there are no more inodes, and then
// removes spare of them.
func UseUpInodes(t *testing.T, filler string, spare int) {
	t.Helper()
	MustWork(t, os.Mkdir(filler, 0o755))
	n := 0
	for ; ; n++ {
		err := os.Mkdir(filepath.Join(filler, strconv.Itoa(n)), 0o755)
		if errors.Is(err, unix.ENOSPC) {
			break
		}
		MustWork(t, err)
	}
	for i := range spare {
		MustWork(t, os.Remove(filepath.Join(filler, strconv.Itoa(n-1-i))))
	}
}

// FullDisk: on the disk a file can be made, but there is no room for its content. try takes the
// lock at a path and releases it.
func FullDisk(t *testing.T, try func(path string) error) {
	t.Helper()
	if !AsRoot(t) {
		return
	}
	dir := Memory(t, "size=64k")
	path, filler := filepath.Join(dir, "lock"), filepath.Join(dir, "filler")
	MustWork(t, try(path)) // while there is room
	fillUp(t, filler)
	err := try(path)
	MustFail(t, err, protocol.CannotCreate, "free some space")
	if !errors.Is(err, unix.ENOSPC) {
		t.Errorf("got %v", err)
	}
	MustWork(t, os.Remove(filler))
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
