//go:build linux

package security

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/test/lab"
)

// copyOf returns a copy of locksmith with another mode, where all users may run it.
func copyOf(t *testing.T, mode os.FileMode) string {
	t.Helper()
	text, err := os.ReadFile(program(t))
	mustWork(t, err)
	path := filepath.Join(publicDir(t, 0o755), "locksmith")
	mustWork(t, os.WriteFile(path, text, 0o755), os.Chmod(path, mode))
	var st unix.Statfs_t
	mustWork(t, unix.Statfs(path, &st))
	if st.Flags&unix.ST_NOSUID != 0 {
		lab.Lacking(t, "the file system of "+path+" is mounted nosuid")
	}
	return path
}

func asNobody(t *testing.T, path string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, args...)
	cmd.Path = path
	return as(nobody, cmd)
}

// TestElevated: a set-user-ID or set-group-ID locksmith, or one with file capabilities, does
// nothing. It would take locks, read files and run commands for its user with rights that the
// user does not have.
func TestElevated(t *testing.T) {
	lab.NeedRoot(t)
	capable := copyOf(t, 0o755)
	err := unix.Setxattr(capable, "security.capability", fileCapability(unix.CAP_DAC_OVERRIDE), 0)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EPERM) {
		lab.Lacking(t, "no file capabilities: "+err.Error())
	}
	mustWork(t, err)
	for name, path := range map[string]string{
		"set-user-ID": copyOf(t, 0o755|os.ModeSetuid), "set-group-ID": copyOf(t, 0o755|os.ModeSetgid), "capabilities": capable,
	} {
		t.Run(name, func(t *testing.T) {
			dir := publicDir(t, 0o777|os.ModeSticky)
			lock := "local:" + filepath.Join(dir, "lock")
			finish(t, asNobody(t, path, "hold", lock)).mustSay(t, 77, "ERR code=permission", "set-user-ID", "chmod ug-s")
			finish(t, asNobody(t, path, "run", lock, "--", "id")).mustSay(t, 77, "set-user-ID")
			finish(t, asNobody(t, path, "status", "/etc/shadow")).mustSay(t, 77, "set-user-ID")
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
	t.Run("not", func(t *testing.T) {
		dir := publicDir(t, 0o777|os.ModeSticky)
		finish(t, asNobody(t, copyOf(t, 0o755), "run", "local:"+filepath.Join(dir, "lock"), "--", "true")).mustSay(t, 0)
	})
}

// fileCapability is capabilities(7)' struct vfs_cap_data of version 2, effective.
func fileCapability(capability uint) []byte {
	var b []byte
	for _, n := range []uint32{0x02000001, 1 << capability, 0, 0, 0} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return b
}
