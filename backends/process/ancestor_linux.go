package process

import "os"

// IsAncestor reports that p is the parent of this process, or its parent, and so
// on.
func IsAncestor(p Process) bool {
	pid, ok := os.Getppid(), true
	for ok && pid > 0 && pid != p.PID {
		pid, ok = parentOf(pid)
	}
	return ok && pid == p.PID && pid > 0 && !p.Gone()
}
