package programs

import (
	"os"

	"locksmith/backends/process"
)

// IsElevated reports whether this process may do more than who started it: its program is
// set-user-ID or set-group-ID, or has file capabilities. Then what comes from there, such as
// variables and the files that they name, is somebody else's.
func IsElevated() bool {
	return os.Getuid() != os.Geteuid() || os.Getgid() != os.Getegid() || gainedCapabilities()
}

// HasAncestor reports whether p is the parent of this process, or its parent, and so on. On
// other systems than Linux only the parent is known.
func HasAncestor(p process.Process) bool {
	return p.PID > 0 && isAncestor(p.PID) && !p.Gone()
}
