//go:build linux && amd64

package crash

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A call is a system call that a thread makes.
type call struct {
	number  uint64
	args    [6]uint64
	name    string
	what    string // the file or text that it is about, in general terms
	ours    bool   // made on the place, or tells something to the parent or the server
	counts  bool
	changes bool // changes something that others see
	fail    bool // it is to fail
}

func (c *call) String() string { return strings.TrimSpace(c.name + " " + c.what) }

// removes reports whether the call removes something.
func (c *call) removes() bool {
	return c.name == "unlink" || c.name == "rmdir" || strings.HasPrefix(c.what, "RMD") // what may go on with a count (number)
}

// looks reports whether the call asks what the path of the lock leads to.
func (c *call) looks() bool { return c.ours && c.number == unix.SYS_NEWFSTATAT }

// runtimes are calls of the Go runtime, of clocks, and of processes that ask for their own names.
// They change nothing that others see.
var runtimes = set(unix.SYS_FUTEX, unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MADVISE, unix.SYS_MPROTECT, unix.SYS_BRK,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_TGKILL,
	unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_NANOSLEEP,
	unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2, unix.SYS_CLONE, unix.SYS_CLONE3,
	unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_GETRANDOM, unix.SYS_PRCTL, unix.SYS_FCNTL, unix.SYS_PRLIMIT64,
	unix.SYS_TIMERFD_CREATE, unix.SYS_TIMERFD_SETTIME, unix.SYS_RESTART_SYSCALL, unix.SYS_GETTID, unix.SYS_GETPID, unix.SYS_GETPPID,
	unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_UNAME, unix.SYS_POLL, unix.SYS_PPOLL, unix.SYS_PIDFD_OPEN)

func set(numbers ...uint64) map[uint64]bool {
	all := map[uint64]bool{}
	for _, n := range numbers {
		all[n] = true
	}
	return all
}

// A shape says where a call has its arguments.
type shape struct {
	name  string
	paths []int // which arguments are names
	file  int   // which argument is an open file; -1: none
	alter bool  // it changes something that others see, if it is made on the place
}

var shapes = map[uint64]shape{
	unix.SYS_OPENAT:            {"open", []int{1}, -1, false}, // see changes
	unix.SYS_MKDIRAT:           {"mkdir", []int{1}, -1, true},
	unix.SYS_MKDIR:             {"mkdir", []int{0}, -1, true},
	unix.SYS_UNLINKAT:          {"unlink", []int{1}, -1, true},
	unix.SYS_UNLINK:            {"unlink", []int{0}, -1, true},
	unix.SYS_RMDIR:             {"rmdir", []int{0}, -1, true},
	unix.SYS_SYMLINKAT:         {"symlink", []int{2}, -1, true},
	unix.SYS_LINKAT:            {"link", []int{1, 3}, -1, true},
	unix.SYS_RENAMEAT:          {"rename", []int{1, 3}, -1, true},
	unix.SYS_RENAMEAT2:         {"rename", []int{1, 3}, -1, true},
	unix.SYS_UTIMENSAT:         {"utimens", []int{1}, 0, true},
	unix.SYS_FCHMODAT:          {"chmod", []int{1}, -1, true},
	unix.SYS_CHMOD:             {"chmod", []int{0}, -1, true},
	unix.SYS_FCHMOD:            {"chmod", nil, 0, true},
	unix.SYS_FTRUNCATE:         {"truncate", nil, 0, true},
	unix.SYS_FLOCK:             {"flock", nil, 0, true},
	unix.SYS_WRITE:             {"write", nil, 0, true},
	unix.SYS_PWRITE64:          {"write", nil, 0, true},
	unix.SYS_CLOSE:             {"close", nil, 0, false},
	unix.SYS_READ:              {"read", nil, 0, false},
	unix.SYS_PREAD64:           {"read", nil, 0, false},
	unix.SYS_FSTAT:             {"stat", nil, 0, false},
	unix.SYS_NEWFSTATAT:        {"stat", []int{1}, 0, false},
	unix.SYS_STATX:             {"statx", []int{1}, 0, false},
	unix.SYS_STATFS:            {"statfs", []int{0}, -1, false},
	unix.SYS_READLINKAT:        {"readlink", []int{1}, -1, false},
	unix.SYS_GETDENTS64:        {"getdents", nil, 0, false},
	unix.SYS_INOTIFY_ADD_WATCH: {"inotify_add_watch", []int{1}, -1, false},
	unix.SYS_EXIT_GROUP:        {"exit", nil, -1, false},
}

// atCall is called at the beginning and at the end of a call.
func (t *tracer) atCall(tid int) error {
	info, err := syscallInfo(tid)
	switch {
	case err != nil:
		return ignoreGone(err)
	case info.op == entry:
		c := t.call(tid, info.nr, info.args)
		t.inside[tid] = c
		return t.before(tid, c)
	case info.op == exit && t.inside[tid] != nil:
		c := t.inside[tid]
		t.inside[tid] = nil
		return t.after(tid, c, int64(info.nr))
	}
	return nil
}

// call finds out what a call is about.
func (t *tracer) call(tid int, number uint64, args [6]uint64) *call {
	c := &call{number: number, args: args}
	if runtimes[number] {
		return c
	}
	s, known := shapes[number]
	if !known {
		s = shape{name: fmt.Sprintf("call %d", number), file: -1}
	}
	c.name = s.name
	ours := t.names(tid, c, s)
	if s.file >= 0 && c.what == "" {
		if name, mine := t.files[int(int32(args[s.file]))]; mine {
			ours, c.what = true, name
		}
	}
	if c.name == "write" && t.toParent(tid, c) {
		ours = true
	}
	if number == unix.SYS_UNLINKAT && args[2]&unix.AT_REMOVEDIR != 0 {
		c.name = "rmdir"
	}
	t.begun = t.begun || ours
	c.ours = ours
	c.counts = t.begun && (ours || t.All || number == unix.SYS_EXIT_GROUP)
	c.changes = ours && c.what != listing && (s.alter || number == unix.SYS_OPENAT && args[2]&unix.O_CREAT != 0)
	return c
}

// names reads the names that a call gets.
func (t *tracer) names(tid int, c *call, s shape) (ours bool) {
	var all []string
	for _, i := range s.paths {
		name := t.path(tid, c, i)
		if name == "" {
			continue
		}
		if rest, below := strings.CutPrefix(filepath.Clean(name), t.Dir); below {
			ours, name = true, strings.TrimPrefix(rest, "/")
		}
		all = append(all, general(name))
	}
	c.what = strings.Join(all, " → ")
	return ours
}

// path reads a name. The name may be relative to the directory that the argument before it has
// open.
func (t *tracer) path(tid int, c *call, i int) string {
	name := text(tid, c.args[i], 4096, true)
	if name == "" || filepath.IsAbs(name) || i == 0 {
		return name
	}
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", t.pid, int32(c.args[i-1])))
	if err != nil {
		return name
	}
	return filepath.Join(dir, name)
}

// toParent recognizes text that goes to the parent or to an FTP server.
func (t *tracer) toParent(tid int, c *call) bool {
	if c.args[0] != 1 && !t.Remote {
		return false
	}
	word, _, _ := strings.Cut(strings.TrimRight(text(tid, c.args[1], 16, false), "\r\n"), " ")
	c.what = word
	return c.args[0] == 1 || verbs[word] || word == listing
}

// verbs are the commands of FTP that change something. Listing only looks.
var verbs = map[string]bool{"MKD": true, "RMD": true, "RNTO": true}

const listing = "NLST"

// text reads the text to which a thread's pointer points.
func text(tid int, at uint64, most int, isName bool) string {
	if at == 0 {
		return ""
	}
	buf := make([]byte, most)
	n, _ := syscall.PtracePeekData(tid, uintptr(at), buf) // the text may end at the end of a page
	buf = buf[:n]
	if end := bytes.IndexByte(buf, 0); end >= 0 && isName {
		buf = buf[:end]
	}
	return string(buf)
}

// callInfo is what PTRACE_GET_SYSCALL_INFO returns (ptrace(2)).
type callInfo struct {
	op   uint8
	_    [3]byte
	arch uint32
	_    [2]uint64
	nr   uint64 // at the exit: the result
	args [6]uint64
	_    [2]uint64
}

const (
	entry = 1
	exit  = 2
)

func syscallInfo(tid int) (callInfo, error) {
	var info callInfo
	_, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(tid),
		unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 {
		return info, errno
	}
	return info, nil
}

func ignoreGone(err error) error {
	if err == syscall.ESRCH {
		return nil
	}
	return err
}
