package posix

import "golang.org/x/sys/unix"

// A Bell rings when something ends that has an id, such as a place in a queue: for those
// processes of this machine, in the same network namespace, that have asked for it with
// HearBell. It is a listening socket without a file (unix(7), abstract) that nobody ever
// answers; the kernel hangs up on those who are connected when it is closed, or when the
// process ends. Nothing is left of it.
//
// It is a hint and nothing else. Whoever comes from elsewhere does not hear it; and whoever
// knows the id of something without a bell may make one.
//
// The zero Bell is none. Bells are for one goroutine at a time.
type Bell struct {
	fd   int
	hung bool
}

// callers is how many may have listened: the kernel keeps a place for each, also for those
// that do so no longer.
const callers = 1024

// HangBell makes the bell of an id that nobody else uses; the zero Bell, if that is not
// possible.
func HangBell(id string) Bell {
	fd, err := bellSocket()
	if err != nil {
		return Bell{}
	}
	if unix.Bind(fd, bellAddress(id)) != nil || unix.Listen(fd, callers) != nil {
		_ = unix.Close(fd)
		return Bell{}
	}
	return Bell{fd: fd, hung: true}
}

// Ring rings the bell, once.
func (b *Bell) Ring() {
	if b.hung {
		_ = unix.Close(b.fd)
	}
	*b = Bell{}
}

// HearBell returns a descriptor that becomes readable when the bell of an id rings, and
// whether there is such a bell. The caller closes it.
func HearBell(id string) (fd int, there bool) {
	fd, err := bellSocket()
	if err != nil {
		return -1, false
	}
	if unix.Connect(fd, bellAddress(id)) != nil {
		_ = unix.Close(fd)
		return -1, false
	}
	return fd, true
}

// Rang reports that a bell has rung that was heard with HearBell.
func Rang(fd int) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}

func bellSocket() (int, error) {
	return unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
}

// bellAddress is in the abstract namespace, which "@" stands for.
func bellAddress(id string) *unix.SockaddrUnix {
	return &unix.SockaddrUnix{Name: "@locksmith/bell/" + id}
}
