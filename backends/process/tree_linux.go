package process

import (
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// SignalDescendants sends a signal to every descendant of this process that
// /proc shows. One that forks at that moment may escape: call again. Without /proc
// it returns an error, and no process has got the signal.
func SignalDescendants(sig unix.Signal) error {
	self, err := selfInProc()
	if err != nil {
		return err
	}
	children := family()
	all := slices.Clone(children[self])
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	for _, pid := range ourNumbers(self, all) {
		_ = unix.Kill(pid, sig) // it may have ended meanwhile
	}
	return nil
}

// family returns the children of all processes that /proc shows, by its numbers.
func family() map[int][]int {
	children := map[int][]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if ppid, ok := parentIn(fieldsInProc(pid)); ok {
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
func parentOf(pid int) (int, bool) { return parentIn(statFields(pid)) }

func parentIn(fields []string, err error) (int, bool) {
	if err != nil || ended(fields) {
		return 0, false
	}
	ppid, err := strconv.Atoi(fields[1])
	return ppid, err == nil
}
