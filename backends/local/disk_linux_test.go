package local

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/backends/backendtest"
	"locksmith/protocol"
)

// TestFullDisk: the file can be made, but there is no room for the record.
func TestFullDisk(t *testing.T) {
	if !asRoot(t) {
		return
	}
	dir := tinyDisk(t)
	path := filepath.Join(dir, "lock")
	if err := try(path, nil); err != nil {
		t.Fatalf("while there is room: %v", err)
	}
	fill(t, filepath.Join(dir, "filler"))
	err := try(path, nil)
	mustFail(t, err, protocol.CannotCreate, "free some space")
	if !errors.Is(err, unix.ENOSPC) {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
		t.Fatal(err)
	}
	mustBeEmpty(t, dir)
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

func tinyDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k,mode=0755"); err != nil {
		backendtest.Lacking(t, "cannot mount a tiny file system: "+err.Error())
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
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4096)
	for {
		_, err := f.Write(block)
		if errors.Is(err, unix.ENOSPC) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
