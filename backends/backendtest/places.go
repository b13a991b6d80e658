//go:build unix

package backendtest

import (
	"os"
	"testing"
)

// Staff is the group that the users of a test have in common.
const Staff = 4242

// A Place is a directory that several users may write to, and the umask of those who do.
type Place struct {
	Name  string
	mode  os.FileMode
	Umask int
}

// Places are all those in which any of them may remove what others made.
var Places = []Place{
	{"open to all", 0o777, 0o022},
	{"open to all, umask 077", 0o777, 0o077},
	{"open to a group", 0o770, 0o022},
	{"open to a group, umask 077", 0o770, 0o077},
	{"open to a group that is inherited", 0o770 | os.ModeSetgid, 0o077},
}

// Sticky is a place like /tmp, in which nobody can remove what others made.
var Sticky = Place{"sticky", 0o777 | os.ModeSticky, 0o022}

// Open gives a directory to all who may write to the place.
func (p Place) Open(t *testing.T, dir string) {
	t.Helper()
	MustWork(t, os.Chown(dir, 0, Staff), os.Chmod(dir, p.mode))
}
