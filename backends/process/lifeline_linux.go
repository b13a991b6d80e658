package process

import (
	crypto "crypto/rand"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// A Lifeline is a listening socket without a file (unix(7), abstract), which nobody ever answers.
// Its name is taken for exactly as long as any process has the socket open: this one or one that
// inherited it.
type Lifeline struct {
	// Name is for Process.Lifeline. It has the network namespace that knows the socket, random
	// bits, so that no name is made twice, and the user who made it, all in hexadecimal.
	Name string
	// User is the effective user of this process.
	User int
	fd   int
}

// NewLifeline makes a lifeline that nobody inherits yet. It lasts until this process ends.
func NewLifeline() (*Lifeline, error) {
	here, err := networkHere()
	if err != nil {
		return nil, err
	}
	var b [8]byte
	_, _ = crypto.Read(b[:]) // never fails: on failure it ends the program
	l := &Lifeline{User: unix.Geteuid()}
	l.Name = fmt.Sprintf("%s%x%08x", here, b, l.User)
	l.fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	err = os.NewSyscallError("bind", unix.Bind(l.fd, lifelineAddress(l.Name)))
	if err == nil {
		err = os.NewSyscallError("listen", unix.Listen(l.fd, lookers))
	}
	if err != nil {
		CloseFD(l.fd)
		return nil, err
	}
	return l, nil
}

// lookers is how many may ask before the socket is full: a connection stays in the socket's queue
// when the process that made it has ended. If the socket is full, nobody can tell which process
// listens.
const lookers = 4096

// Lend returns a copy of the descriptor, to be inherited by the program that is started now (see
// the function Lend).
func (l *Lifeline) Lend() (int, error) { return Lend(l.fd) }

// lifelineAddress is in the abstract namespace, for which "@" stands.
func lifelineAddress(name string) *unix.SockaddrUnix {
	return &unix.SockaddrUnix{Name: "@locksmith/" + name}
}

// networkHere is the part of a lifeline's name that names our network namespace.
var networkHere = sync.OnceValues(func() (string, error) {
	var st unix.Stat_t
	if err := unix.Stat("/proc/self/ns/net", &st); err != nil {
		return "", &os.PathError{Op: "stat", Path: "/proc/self/ns/net", Err: err}
	}
	return fmt.Sprintf("%08x", st.Ino), nil
})

// reach connects to the lifeline of a process. The descriptor becomes readable when the last
// process that has the lifeline closes it. It is NoFD if no process has the lifeline any more.
// The caller closes it.
func (p Process) reach() (int, error) {
	if _, lost := lostNames.Load(p); lost {
		return NoFD, nil
	}
	if here, err := networkHere(); err != nil || !strings.HasPrefix(p.Lifeline, here) {
		return NoFD, fmt.Errorf("lifeline %.40q: %w", p.Lifeline, ErrNotVisible)
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return NoFD, os.NewSyscallError("socket", err)
	}
	_, err = again(func() (int, error) { return 0, unix.Connect(fd, lifelineAddress(p.Lifeline)) })
	if errors.Is(err, unix.ECONNREFUSED) {
		CloseFD(fd)
		return NoFD, nil
	}
	// The kernel remembers the process that began to listen, even after its end. If that is
	// another than expected, somebody else may have taken the name, which everybody can see in
	// /proc/net/unix.
	var listener *unix.Ucred
	if err == nil {
		listener, err = unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	}
	if err == nil && int(listener.Pid) != p.PID {
		if p.lostNameTo(listener, os.Getpid()) {
			CloseFD(fd)
			lostNames.Store(p, true)
			return NoFD, nil
		}
		err = ErrNotVisible
	}
	if err != nil {
		CloseFD(fd)
		return NoFD, fmt.Errorf("connect to lifeline %s: %w", p.Lifeline, err)
	}
	return fd, nil
}

// lostNames has each Process for which lostNameTo had proof. The proof is good for ever, and may not
// be had twice: each look stays in the queue of the listener, who may have made it short.
var lostNames sync.Map

// lostNameTo reports, by proof, that another user has the name of p's lifeline, under which a process
// listens that is not p. Then no process has the lifeline any more: as long as one has it, nobody
// else gets its name.
//
// A wrong pid alone is no proof, because not every kernel tells it truly: gVisor tells pid and user
// of the process that asks, which is self, and other kernels may tell zeros. A wrong user alone is no
// proof either: in a user namespace p had another number than we see. But if the pid is wrong as
// well, another process began to listen.
func (p Process) lostNameTo(listener *unix.Ucred, self int) bool {
	maker, known := makerIn(p.Lifeline)
	if !known || listener.Uid == maker || listener.Uid == 0 || listener.Pid <= 0 || int(listener.Pid) == self {
		return false
	}
	all, err := SeesAllUsers()
	return all && err == nil
}

// makerIn is the user in a lifeline's name. Names that older versions made have none.
func makerIn(name string) (uid uint32, known bool) {
	const rest = 8 + 16 // the network namespace and the random bits
	if len(name) != rest+8 {
		return 0, false
	}
	n, err := strconv.ParseUint(name[rest:], 16, 32)
	return uint32(n), err == nil
}

// Inheritors are the processes that have p's lifeline, among those that we may look at. They are
// found by the socket's name. If another process than p made that lifeline, there are none: a
// record may name any lifeline, and people may be told to end whoever has it.
func (p Process) Inheritors() []Process {
	fd, err := p.reach()
	CloseFD(fd)
	if err != nil || fd == NoFD {
		return nil
	}
	socket := socketNamed("@locksmith/" + p.Lifeline)
	if socket == "" {
		return nil
	}
	return having([]string{socket}, Descriptors)
}

// Commands are the children of p that inherited its lifeline. A waiter asks, so nothing is read here
// that grows with the number of processes. Of the sockets of p that a program it becomes would not
// inherit, a child can have the lifeline alone.
func (p Process) Commands() []Process {
	var lifelines []string
	for _, fd := range namesIn(fmt.Sprintf("/proc/%d/fd", p.PID)) {
		if socket := p.socket(fd); socket != "" && p.closesOnExec(fd) {
			lifelines = append(lifelines, socket)
		}
	}
	var children []int
	for _, c := range p.children() {
		children = append(children, c.PID)
	}
	return having(lifelines, DescriptorsOf(children...))
}

// socket is how /proc shows the socket that p has under a descriptor, or "".
func (p Process) socket(fd string) string {
	to, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", p.PID, fd))
	if !strings.HasPrefix(to, "socket:") {
		return ""
	}
	return to
}

// closesOnExec reports whether a descriptor of p is closed when p becomes another program.
func (p Process) closesOnExec(fd string) bool {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%s", p.PID, fd))
	_, rest, _ := strings.Cut(string(text), "flags:")
	line, _, _ := strings.Cut(rest, "\n")
	flags, err := strconv.ParseUint(strings.TrimSpace(line), 8, 64)
	return err == nil && flags&unix.O_CLOEXEC != 0
}

// having are the processes that have one of these sockets, among the owners of these descriptors.
func having(sockets []string, descriptors iter.Seq2[int, string]) (all []Process) {
	if len(sockets) == 0 {
		return nil
	}
	last := 0
	for pid, fd := range descriptors {
		if pid == last || !slices.Contains(sockets, (Process{PID: pid}).socket(fd)) {
			continue
		}
		last = pid
		if found, err := Find(pid); err == nil && !found.Gone() {
			all = append(all, found)
		}
	}
	return all
}

// socketNamed is how /proc/PID/fd shows the listening socket with this name, or "". Other sockets
// with the name are connections that nobody has answered.
func socketNamed(name string) string {
	for text, _ := range Readings("/proc/net/unix") {
		if found := listeningIn(text, name); found != "" {
			return found
		}
	}
	return ""
}

// listeningIn finds the socket in the text of /proc/net/unix. Somebody may have put a line feed
// into a socket's name, and behind it text that looks like a line. The true line is there as
// well. So if two lines match, none counts.
func listeningIn(text, name string) (found string) {
	for line := range strings.Lines(text) {
		// Num RefCount Protocol Flags Type St Inode Path
		f := strings.Fields(line)
		if len(f) != 8 || f[7] != name || f[3] != listening {
			continue
		}
		if found != "" {
			return ""
		}
		found = "socket:[" + f[6] + "]"
	}
	return found
}

// listening are the flags of a listening socket (__SO_ACCEPTCON).
const listening = "00010000"

func (p Process) lifelineGone() bool {
	fd, err := p.reach()
	defer CloseFD(fd)
	return err == nil && fd == NoFD
}
