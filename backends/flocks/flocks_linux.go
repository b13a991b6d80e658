package flocks

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"locksmith/backends/process"
)

// Look looks at the locks of the file at a path, which need not be readable.
func Look(path string) (Seen, error) {
	var file unix.Stat_t
	if err := unix.Lstat(path, &file); err != nil {
		return Seen{}, &os.PathError{Op: "lstat", Path: path, Err: err}
	}
	text, err := os.ReadFile("/proc/locks")
	if err != nil {
		return Seen{}, err
	}
	var s Seen
	for line := range strings.Lines(string(text)) {
		switch l, ok := parse(line); {
		case !ok || l.inode != file.Ino || l.device != deviceOf(file.Dev):
		case l.waits:
			s.Waiters = append(s.Waiters, l.pid)
		default:
			s.Takers = append(s.Takers, l.pid)
		}
	}
	s.Keepers = keepers(file)
	return s, nil
}

// keepers are the processes that have a locked descriptor of the file.
func keepers(file unix.Stat_t) (found []process.Process) {
	for pid, fd := range process.Descriptors {
		if slices.ContainsFunc(found, func(p process.Process) bool { return p.PID == pid }) || !isLocked(pid, fd, file.Ino) {
			continue
		}
		var st unix.Stat_t // last, because a server that is dead does not answer it
		if unix.Stat(fmt.Sprintf("/proc/%d/fd/%s", pid, fd), &st) != nil || st.Ino != file.Ino || st.Dev != file.Dev {
			continue
		}
		if p, err := process.Find(pid); err == nil {
			found = append(found, p)
		}
	}
	return found
}

// isLocked reports that a descriptor has the lock of a file with this inode number.
func isLocked(pid int, fd string, inode uint64) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%s", pid, fd))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		lock, isLock := strings.CutPrefix(line, "lock:")
		if l, ok := parse(lock); isLock && ok && l.inode == inode {
			return true
		}
	}
	return false
}

// A lock is a line of /proc/locks (proc_locks(5)).
type lock struct {
	waits  bool
	pid    int
	device string
	inode  uint64
}

// parse reads such a line, if it is about a lock of flock(2):
//
//	1: FLOCK  ADVISORY  WRITE 4242 08:01:131 0 EOF
//	1: -> FLOCK  ADVISORY  WRITE 4243 08:01:131 0 EOF
func parse(line string) (l lock, ok bool) {
	fields := strings.Fields(line)
	if len(fields) > 1 && fields[1] == "->" {
		l.waits, fields = true, slices.Delete(fields, 1, 2)
	}
	if len(fields) < 6 || fields[1] != "FLOCK" {
		return l, false
	}
	colon := strings.LastIndexByte(fields[5], ':')
	if colon < 0 {
		return l, false
	}
	pid, err1 := strconv.Atoi(fields[4])
	inode, err2 := strconv.ParseUint(fields[5][colon+1:], 10, 64)
	l.pid, l.inode, l.device = pid, inode, fields[5][:colon]
	return l, err1 == nil && err2 == nil
}

func deviceOf(dev uint64) string { return fmt.Sprintf("%02x:%02x", unix.Major(dev), unix.Minor(dev)) }
