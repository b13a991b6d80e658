package flocks

import (
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"locksmith/backends/process"
)

// Look looks at the locks of the file at a path, which need not be readable.
func Look(path string) (Seen, error) {
	return see(path, take(), snapshot.of)
}

// Peek is Look at those alone that took the lock. It costs what /proc/locks costs: it looks at no
// other process, so it does not find those to whom they handed the lock on.
func Peek(path string) (Seen, error) {
	return see(path, take(), snapshot.takers)
}

// Of looks at some processes alone, and not at /proc/locks.
func Of(path string, pids ...int) (seen Seen) {
	var file unix.Stat_t
	if unix.Stat(path, &file) == nil {
		seen.add(file, locked(process.DescriptorsOf(pids...)))
	}
	return seen
}

// Glance is Look that ends early. If those that took the lock still have it, it leaves out all
// others that have it. It looks at all processes only if it must. While the lock goes from hand to
// hand it names nobody: each look finds another taker, which has let the lock go.
func Glance(path string) (seen Seen, err error) {
	var before []int
	for n := range glances {
		seen, err = Peek(path)
		switch {
		case err != nil || seen.isEnough():
			return seen, err
		case len(seen.Keepers) > 0, areThere(seen.Takers, before), n > 0 && len(seen.Takers) == 0:
			return Look(path)
		}
		before = append(before, seen.Takers...)
	}
	return seen, nil
}

// glances is how often Glance looks whether the lock stays with those that took it.
const glances = 3

// areThere reports that takers are known from looks before.
func areThere(takers, before []int) bool {
	return len(takers) > 0 && !slices.ContainsFunc(takers, func(pid int) bool { return !slices.Contains(before, pid) })
}

// Snapshot is Glance for many files. It reads /proc once, when it is asked about the first.
func Snapshot() func(path string) (Seen, error) {
	s := take()
	return func(path string) (Seen, error) { return see(path, s, snapshot.glance) }
}

func see(path string, s snapshot, look func(snapshot, unix.Stat_t) (Seen, error)) (Seen, error) {
	var file unix.Stat_t
	if err := unix.Stat(path, &file); err != nil {
		return Seen{}, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	seen, err := look(s, file)
	if err != nil {
		return Seen{}, fmt.Errorf("%w: %v", ErrHidden, err) // not wrapped: the file is there
	}
	seen.Hidden = Hides()
	if len(seen.Takers) > 0 && process.CheckProc() != nil { // these numbers are those of another pid namespace
		seen.Takers, seen.Unnamed = nil, true
	}
	return seen, nil
}

// Hides reports whether the kernel may hide locks from this process: only in the pid namespace of the
// whole machine /proc shows those of all.
func Hides() bool { return hides() }

var hides = sync.OnceValue(func() bool {
	own, err := os.Readlink("/proc/self/ns/pid")
	return err != nil || own != process.FirstPIDNS || process.CheckProc() != nil
})

// A snapshot reads what it needs when it is first asked for that.
type snapshot struct {
	locks iter.Seq2[string, error] // readings of /proc/locks
	open  func() []descriptor
}

func take() snapshot {
	return snapshot{process.Readings("/proc/locks"), sync.OnceValue(func() []descriptor { return locked(process.Descriptors) })}
}

// A descriptor has a lock of this kind, on a file with this inode number.
type descriptor struct {
	lock
	holder int // the process that has it
	fd     string
}

// queue is what /proc/locks shows of a file: the first reading in which somebody has taken the lock, or
// the last.
func (s snapshot) queue(file unix.Stat_t) (seen Seen, err error) {
	for text, err := range s.locks {
		if err != nil {
			return Seen{}, err
		}
		if seen = queueIn(text, file); len(seen.Takers) > 0 {
			break
		}
	}
	return seen, nil
}

func queueIn(text string, file unix.Stat_t) (seen Seen) {
	for line := range strings.Lines(text) {
		l, ok := parse(line)
		if ok && l.inode == file.Ino && l.waits {
			seen.Crowd++
		}
		switch {
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
			seen.Takers, seen.Shared = append(seen.Takers, l.pid), seen.Shared || l.shared
		}
	}
	slices.Sort(seen.Takers)
	seen.Takers = slices.Compact(seen.Takers)
	return seen
}

func (s snapshot) of(file unix.Stat_t) (Seen, error) {
	seen, err := s.queue(file)
	if err == nil {
		seen.add(file, s.open())
	}
	return seen, err
}

// takers looks only at those that took the lock.
func (s snapshot) takers(file unix.Stat_t) (Seen, error) {
	seen, err := s.queue(file)
	if err == nil {
		seen.add(file, locked(process.DescriptorsOf(seen.Takers...)))
	}
	return seen, err
}

func (s snapshot) glance(file unix.Stat_t) (Seen, error) {
	if seen, err := s.takers(file); err != nil || seen.isEnough() {
		return seen, err
	}
	return s.of(file)
}

// isEnough reports that a look at the takers left out what counts for nothing: who has the lock
// beside them, and whose the seats are while nobody sleeps.
func (s Seen) isEnough() bool {
	return len(s.Keepers) > 0 && (s.Seats == 0 || len(s.Waiters) == 0)
}

// add adds the processes whose descriptors are those of the file.
func (s *Seen) add(file unix.Stat_t, all []descriptor) {
	for _, d := range all {
		known := slices.ContainsFunc(s.Keepers, func(k Keeper) bool { return k.PID == d.holder && k.Taker == d.pid })
		if d.inode != file.Ino || d.kind == flock && known {
			continue
		}
		var st unix.Stat_t // look at no other file: its server may be dead and not answer
		if unix.Stat(fmt.Sprintf("/proc/%d/fd/%s", d.holder, d.fd), &st) != nil || st.Ino != file.Ino || st.Dev != file.Dev {
			continue
		}
		if d.kind == ofd {
			s.Sitters = append(s.Sitters, d.holder)
		} else if p, err := process.Find(d.holder); err == nil {
			s.Keepers, s.Shared = append(s.Keepers, Keeper{p, d.pid}), s.Shared || d.shared
		}
	}
}

// locked returns those descriptors that have a lock.
func locked(descriptors iter.Seq2[int, string]) (all []descriptor) {
	for pid, fd := range descriptors {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%s", pid, fd))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			text, isLock := strings.CutPrefix(line, "lock:")
			if l, ok := parse(text); isLock && ok && !l.waits {
				all = append(all, descriptor{l, pid, fd})
			}
		}
	}
	return all
}

// A lock is a line of /proc/locks (proc_locks(5)).
type lock struct {
	kind   string
	waits  bool
	shared bool
	pid    int // the process that took it, or waits
	device string
	inode  uint64
}

// Kinds of locks.
const (
	flock = "FLOCK"  // flock(2)
	ofd   = "OFDLCK" // fcntl(2), by an open file
)

// parse reads such a line, if it is about a lock of flock(2), or about a byte that a reader has
// locked:
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
	l.kind, l.shared = fields[1], fields[3] == "READ"
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
