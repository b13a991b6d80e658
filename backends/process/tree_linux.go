package process

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// SignalDescendants sends a signal to every descendant of this process that
// /proc shows. One that forks at that moment may escape: call again.
func SignalDescendants(sig unix.Signal) {
	children := map[int][]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if ppid, ok := parentOf(pid); ok {
				children[ppid] = append(children[ppid], pid)
			}
		}
	}
	queue := children[os.Getpid()]
	for len(queue) > 0 {
		pid := queue[0]
		queue = append(queue[1:], children[pid]...)
		_ = unix.Kill(pid, sig) // it may have ended meanwhile
	}
}

// parentOf returns the parent of a process that has not ended.
func parentOf(pid int) (int, bool) {
	fields, err := statFields(pid)
	if err != nil || ended(fields) {
		return 0, false
	}
	ppid, err := strconv.Atoi(fields[1])
	return ppid, err == nil
}
