package process

import (
	"iter"
	"os"
	"strconv"
)

// Descriptors yields each descriptor of each process that we may look at: the pid and the name
// below /proc/PID/fd. It follows no link there.
func Descriptors(yield func(pid int, fd string) bool) {
	if CheckProc() != nil {
		return
	}
	for _, name := range namesIn("/proc") {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		for pid, fd := range DescriptorsOf(pid) {
			if !yield(pid, fd) {
				return
			}
		}
	}
}

// DescriptorsOf yields the descriptors of some processes.
func DescriptorsOf(pids ...int) iter.Seq2[int, string] {
	return func(yield func(pid int, fd string) bool) {
		for _, pid := range pids {
			for _, fd := range namesIn("/proc/" + strconv.Itoa(pid) + "/fd") {
				if !yield(pid, fd) {
					return
				}
			}
		}
	}
}

// namesIn returns the names in a directory, none if it cannot be read.
func namesIn(dir string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	return names
}
