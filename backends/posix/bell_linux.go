package posix

import "golang.org/x/sys/unix"

// A Bell rings when something ends that has an id, such as a place in a queue. Processes hear it
// that have asked for it with HearBell, on this machine and in the same network namespace. A Bell
// is a listening socket without a file (unix(7), abstract) that nobody ever answers. When the
// socket is closed, or its process ends, the kernel hangs up on all who are connected. Nothing is
// left of it.
//
// It is only a hint. Processes elsewhere do not hear it. And anybody who knows the id may make a
// bell for it, if it has none.
//
// The zero Bell is no bell. A Bell is for one goroutine at a time.
type Bell struct {
	fd   int
	hung bool
}

// callers is how many processes can listen to a bell in its whole life. Each takes a place in the
// socket's queue, and the kernel keeps that place when the process has ended.
const callers = 1024

// HangBell makes the bell of an id that nobody else uses. If that is not possible, it returns the
// zero Bell.
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

// Rang reports whether a bell has rung. fd comes from HearBell.
func Rang(fd int) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}

func bellSocket() (int, error) {
	return unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
}

// bellAddress is in the abstract namespace, for which "@" stands.
func bellAddress(id string) *unix.SockaddrUnix {
	return &unix.SockaddrUnix{Name: "@locksmith/bell/" + id}
}
