package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

// CheckProc returns an error unless /proc shows processes by the numbers that we know
// them by. It may not be mounted; or it may be that of another pid namespace, such as
// the host's in a container, where our numbers are other processes' (pid_namespaces(7)).
func CheckProc() error { return checkProc() }

var checkProc = sync.OnceValue(func() error {
	switch self, err := selfInProc(); {
	case err != nil:
		return err
	case self != os.Getpid():
		return fmt.Errorf("/proc is that of another pid namespace: %w", ErrNotVisible)
	}
	return nil
})

// selfInProc is this process's number in /proc.
func selfInProc() (int, error) {
	self, err := os.Readlink("/proc/self")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(self)
}

// ourNumbers turns numbers in /proc into those of our pid namespace, which is that of
// /proc or one within.
func ourNumbers(self int, pids []int) []int {
	if self == os.Getpid() {
		return pids
	}
	level := len(namespaceNumbers(self))
	var ours []int
	for _, pid := range pids {
		if n := namespaceNumbers(pid); level > 0 && len(n) >= level {
			ours = append(ours, n[level-1])
		}
	}
	return ours
}

// namespaceNumbers are the numbers of a process in its pid namespaces, from that of
// /proc inwards (proc_pid_status(5), NSpid).
func namespaceNumbers(pid int) []int {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return nil
	}
	var all []int
	for line := range strings.Lines(string(status)) {
		list, found := strings.CutPrefix(line, "NSpid:")
		if !found {
			continue
		}
		for _, text := range strings.Fields(list) {
			if n, err := strconv.Atoi(text); err == nil {
				all = append(all, n)
			}
		}
	}
	return all
}
