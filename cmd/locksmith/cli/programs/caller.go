package programs

import (
	"os"

	"locksmith/backends/process"
)

// IsElevated reports whether this process may do more than who started it: its program is
// set-user-ID or set-group-ID, or has file capabilities. Then variables, and the files that they
// name, come from somebody else.
func IsElevated() bool {
	return os.Getuid() != os.Geteuid() || os.Getgid() != os.Getegid() || gainedCapabilities()
}

// HasAncestor reports whether p is the parent of this process, or its parent, and so on. On
// other systems than Linux only the parent is known.
func HasAncestor(p process.Process) bool {
	return p.PID > 0 && isAncestor(p.PID) && !p.Gone()
}
