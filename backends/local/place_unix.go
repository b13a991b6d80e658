//go:build unix

package local

import (
	"locksmith/backends/doctor"
	"locksmith/backends/lockfile"
)

// options are the options that an address of this scheme may have.
var options = map[string][]string{"fs": {"any"}, "dir": {"any"}}

// systemPath is the system's spelling of the path of an address.
func systemPath(path string) string { return path }

// checkDirectory refuses places where this lock cannot keep its promise.
func (l *Lock) checkDirectory() error {
	dir := l.directory()
	if err := lockfile.CheckDirectory(l.address, dir, l.anyDir, nil); err != nil || l.anyFS {
		return err
	}
	op := "look at file system of " + dir
	name, err := doctor.Remote(dir)
	switch {
	case err != nil:
		return l.fail(op, err)
	case name == "":
		return nil
	}
	return l.address.Unfit(op, name+" may be shared between machines, and their kernels do not know each other's locks",
		"use a directory on a disk of this machine, or say ?fs=any if only this machine ever uses it")
}
