package local

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// native is the system's spelling of the path of an address: "/C:/locks/a" is
// "C:\\locks\\a".
func native(path string) string {
	if len(path) > 2 && path[0] == '/' && path[2] == ':' {
		path = path[1:]
	}
	return filepath.FromSlash(path)
}

func (l *Lock) directory() string { return filepath.Dir(native(l.path)) }

// options are those that an address of this scheme may have. There is no flock(1).
var options = map[string][]string{"fs": {"any"}, "dir": {"any"}}

// findDirectory returns an error if the directory of the lock is not there.
func (l *Lock) findDirectory() error {
	dir := l.directory()
	st, err := os.Stat(dir)
	if err == nil && !st.IsDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return backend.FileError(l.address, "look at directory "+dir, err)
	}
	return nil
}

// checkDirectory refuses places where this lock cannot keep its promise. Who may
// remove files there is not examined.
func (l *Lock) checkDirectory() error {
	dir := l.directory()
	if len(filepath.VolumeName(dir)) != len("C:") {
		return l.unfit(dir, "it names no drive", "write for example local:C:/locks/name")
	}
	if strings.Contains(strings.TrimPrefix(native(l.path), filepath.VolumeName(native(l.path))), ":") {
		return l.unfit(dir, "the name has a colon, which means a stream of another file", "choose another name")
	}
	if err := l.findDirectory(); err != nil || l.anyFS {
		return err
	}
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(dir) + `\`)
	if err == nil && windows.GetDriveType(root) == windows.DRIVE_REMOTE {
		return l.unfit(dir, "the drive is shared between machines, and their systems may not know each other's locks",
			"use a directory on a disk of this machine, or say ?fs=any if only this machine ever uses it")
	}
	return err
}

func (l *Lock) unfit(dir, cause, hint string) error {
	return &backend.Error{Code: protocol.CannotCreate, Lock: l.address, Op: "look at directory " + dir, Err: errors.New(cause), Hint: hint}
}
