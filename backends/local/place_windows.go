package local

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"

	"locksmith/backends/lockfile"
)

// options are the options that an address of this scheme may have.
var options = map[string][]string{"fs": {"any"}, "dir": {"any"}, "pid": {"binary"}}

// systemPath is the system's spelling of the path of an address.
func systemPath(path string) string { return lockfile.Native(path) }

// checkDirectory refuses places where this lock cannot keep its promise. It does not examine who
// may remove files there.
func (l *Lock) checkDirectory() error {
	dir := l.directory()
	if len(filepath.VolumeName(dir)) != len("C:") {
		return l.unfit(dir, "it names no drive", "write for example local:C:/locks/name")
	}
	if strings.Contains(strings.TrimPrefix(systemPath(l.path), filepath.VolumeName(systemPath(l.path))), ":") {
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
	return l.address.Unfit("look at directory "+dir, cause, hint)
}
