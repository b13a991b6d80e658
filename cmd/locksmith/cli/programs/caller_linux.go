package programs

import (
	"os"

	"golang.org/x/sys/unix"

	"locksmith/backends/process"
)

// atSecure is the key of getauxval(3) under which the kernel tells that the program was started
// with more rights.
const atSecure = 23

// gainedCapabilities reports whether this process gained capabilities. Security modules set
// atSecure, too, when they confine a service. So only a process that has capabilities, and is
// not root, has gained any.
func gainedCapabilities() bool {
	vector, err := unix.Auxv()
	if err != nil {
		return false
	}
	secure := false
	for _, v := range vector {
		secure = secure || v[0] == atSecure && v[1] != 0
	}
	if !secure || unix.Geteuid() == 0 {
		return false
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return true // the kernel does not tell
	}
	return sets[0].Permitted|sets[1].Permitted != 0
}

func isAncestor(wanted int) bool {
	pid, ok := os.Getppid(), true
	for ok && pid > 0 && pid != wanted {
		pid, ok = parentOf(pid)
	}
	return ok && pid == wanted
}

// parentOf returns the parent of a process that has not ended.
func parentOf(pid int) (int, bool) {
	if process.CheckProc() != nil {
		return 0, false
	}
	s, err := process.ReadStat(pid)
	return s.Parent, err == nil && !s.Ended
}
