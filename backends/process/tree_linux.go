package process

import (
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// SignalDescendants sends a signal to every descendant of this process that
// /proc shows. One that forks at that moment may escape: call again.
func SignalDescendants(sig unix.Signal) {
	children := family()
	queue := children[os.Getpid()]
	for len(queue) > 0 {
		pid := queue[0]
		queue = append(queue[1:], children[pid]...)
		_ = unix.Kill(pid, sig) // it may have ended meanwhile
	}
}

// family returns the children of all processes that /proc shows.
func family() map[int][]int {
	children := map[int][]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if ppid, ok := parentOf(pid); ok {
				children[ppid] = append(children[ppid], pid)
			}
		}
	}
	return children
}

// StoppedInFork reports that a process cannot be stopped, because it waits for a child
// made by vfork(2) that was stopped before it became another program. The signal that
// stopped the child is for both.
func StoppedInFork(pid int) bool {
	return state(pid) == "D" && slices.ContainsFunc(family()[pid], func(child int) bool { return state(child) == "T" })
}

// state is the letter that /proc shows, "" for none.
func state(pid int) string {
	fields, err := statFields(pid)
	if err != nil {
		return ""
	}
	return fields[0]
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
