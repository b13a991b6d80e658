//go:build unix

package local

import (
	"locksmith/backends/doctor"
	"locksmith/backends/lockfile"
)

// options are the options that an address of this scheme may have.
var options = map[string][]string{"fs": {"any"}, "dir": {"any"}, "pid": {"binary"}}

// systemPath is the system's spelling of the path of an address.
func systemPath(path string) string { return path }

// checkDirectory refuses places where this lock cannot keep its promise.
func (l *Lock) checkDirectory() error {
	dir := l.directory()
	if err := lockfile.CheckDirectory(l.address, dir, l.anyDir, nil); err != nil || l.anyFS {
		return err
	}
	return doctor.OneMachine(l.address, dir,
		"use a directory on a disk of this machine, or say ?fs=any if only this machine ever uses it", l.fail)
}
