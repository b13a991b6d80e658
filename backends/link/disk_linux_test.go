package link

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/backendtest"
	"locksmith/protocol"
)

// TestFullDisk: the claim can be made, but there is no room for the record.
func TestFullDisk(t *testing.T) {
	if !asRoot(t) {
		return
	}
	dir := mounted(t, "tmpfs", "tmpfs", "size=64k,mode=0755")
	path := filepath.Join(dir, "lock")
	mustWork(t, try(path, nil))
	fill(t, filepath.Join(dir, "filler"))
	err := try(path, nil)
	mustFail(t, err, protocol.CannotCreate, "free some space")
	if !errors.Is(err, unix.ENOSPC) {
		t.Errorf("got %v", err)
	}
	mustWork(t, os.Remove(filepath.Join(dir, "filler")))
	mustBeEmpty(t, dir)
}

// TestFAT has no hard links.
func TestFAT(t *testing.T) {
	if !asRoot(t) {
		return
	}
	dir := fat(t)
	err := try(filepath.Join(dir, "lock"), nil)
	mustFail(t, err, protocol.CannotCreate, "use mkdir: or local: instead")
	mustBeEmpty(t, dir)
	all, err := examined(t, openLock(t, filepath.Join(dir, "lock")))
	mustWork(t, err)
	if all["hard links"].Finding != backend.Unfit {
		t.Errorf("%+v", all)
	}
	mustBeEmpty(t, dir)
}

// fat returns a directory on a file system of the kind that memory cards have.
func fat(t *testing.T) string {
	t.Helper()
	image := filepath.Join(t.TempDir(), "image")
	mustWork(t, os.WriteFile(image, nil, 0o600), os.Truncate(image, 1<<20))
	if out, err := exec.Command("mkfs.vfat", image).CombinedOutput(); err != nil {
		t.Skip("cannot make a FAT file system: " + err.Error() + " " + string(out))
	}
	out, err := exec.Command("losetup", "--find", "--show", image).Output()
	if err != nil {
		t.Skip("no loop device: " + err.Error())
	}
	device := string(out[:len(out)-1])
	t.Cleanup(func() { _ = exec.Command("losetup", "--detach", device).Run() })
	return mounted(t, device, "vfat", "")
}

// asRoot reports whether the test is to go on, because this process may mount.
// Anybody else runs the same test in a copy of the test binary that is root in
// a namespace of its own (user_namespaces(7)), and is told false.
func asRoot(t *testing.T) bool {
	t.Helper()
	if os.Getuid() == 0 {
		return true
	}
	err := runCopy(t, &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	})
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed):
		t.Error("the copy failed")
	case err != nil:
		backendtest.Lacking(t, "not root, nor may we have a user namespace: "+err.Error())
	}
	return false
}

// mounted returns a directory with a file system of its own.
func mounted(t *testing.T, device, kind, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount(device, dir, kind, 0, options); err != nil {
		t.Skip("cannot mount " + kind + ": " + err.Error())
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	mustWork(t, err)
	defer f.Close()
	block := make([]byte, 4096)
	for {
		_, err := f.Write(block)
		if errors.Is(err, unix.ENOSPC) {
			return
		}
		mustWork(t, err)
	}
}
