package flocks

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"locksmith/backends/process"
)

// Look looks at the locks of the file at a path, which need not be readable.
func Look(path string) (Seen, error) { return Snapshot()(path) }

// Snapshot is Look for many files, which reads /proc once, when it is asked about the first.
func Snapshot() func(path string) (Seen, error) {
	read := sync.OnceValues(func() (snapshot, error) {
		text, err := os.ReadFile("/proc/locks")
		return snapshot{string(text), sync.OnceValue(lockedDescriptors)}, err
	})
	return func(path string) (Seen, error) {
		var file unix.Stat_t
		if err := unix.Lstat(path, &file); err != nil {
			return Seen{}, &os.PathError{Op: "lstat", Path: path, Err: err}
		}
		s, err := read()
		if err != nil {
			return Seen{}, err
		}
		return s.of(file), nil
	}
}

type snapshot struct {
	text string // of /proc/locks
	open func() []descriptor
}

// A descriptor has a lock of this kind, of some file with this inode number.
type descriptor struct {
	kind  string
	pid   int
	fd    string
	inode uint64
}

// queue is what /proc/locks shows of a file.
func (s snapshot) queue(file unix.Stat_t) (seen Seen) {
	for line := range strings.Lines(s.text) {
		switch l, ok := parse(line); {
		case !ok || l.inode != file.Ino:
		case l.device != deviceOf(file.Dev):
			if l.kind == flock && !l.waits {
				seen.Alike++
			}
		case l.kind == ofd:
			seen.Seats++
		case l.waits:
			seen.Waiters = append(seen.Waiters, l.pid)
		default:
			seen.Takers = append(seen.Takers, l.pid)
		}
	}
	return seen
}

func (s snapshot) of(file unix.Stat_t) Seen {
	seen := s.queue(file)
	for _, d := range s.open() {
		known := slices.ContainsFunc(seen.Keepers, func(p process.Process) bool { return p.PID == d.pid })
		if d.inode != file.Ino || d.kind == flock && known {
			continue
		}
		var st unix.Stat_t // of no other file: a server that is dead does not answer it
		if unix.Stat(fmt.Sprintf("/proc/%d/fd/%s", d.pid, d.fd), &st) != nil || st.Ino != file.Ino || st.Dev != file.Dev {
			continue
		}
		if d.kind == ofd {
			seen.Sitters = append(seen.Sitters, d.pid)
		} else if p, err := process.Find(d.pid); err == nil {
			seen.Keepers = append(seen.Keepers, p)
		}
	}
	return seen
}

// lockedDescriptors are those of all processes that we may look at.
func lockedDescriptors() (all []descriptor) {
	for pid, fd := range process.Descriptors {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%s", pid, fd))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			lock, isLock := strings.CutPrefix(line, "lock:")
			if l, ok := parse(lock); isLock && ok && !l.waits {
				all = append(all, descriptor{l.kind, pid, fd, l.inode})
			}
		}
	}
	return all
}

// A lock is a line of /proc/locks (proc_locks(5)).
type lock struct {
	kind   string
	waits  bool
	pid    int
	device string
	inode  uint64
}

// Kinds of locks.
const (
	flock = "FLOCK"  // flock(2)
	ofd   = "OFDLCK" // fcntl(2), of an open file
)

// parse reads such a line, if it is about a lock of flock(2), or of a byte that a reader has:
//
//	1: FLOCK  ADVISORY  WRITE 4242 08:01:131 0 EOF
//	1: -> FLOCK  ADVISORY  WRITE 4243 08:01:131 0 EOF
//	2: OFDLCK ADVISORY  READ -1 08:01:131 0 0
func parse(line string) (l lock, ok bool) {
	fields := strings.Fields(line)
	if len(fields) > 1 && fields[1] == "->" {
		l.waits, fields = true, slices.Delete(fields, 1, 2)
	}
	switch {
	case len(fields) < 6:
		return l, false
	case fields[1] == flock:
	case fields[1] == ofd && fields[3] == "READ" && len(fields) == 8 && fields[6] == fields[7]:
	default:
		return l, false
	}
	l.kind = fields[1]
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
