package ftpserver

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"syscall"
	"time"
)

// freePort finds a port to listen on that stays free while its server is down:
// none of those that the kernel chooses for itself.
func freePort() (int, error) {
	const lowest, highest = 12000, 32000
	for range 100 {
		port := lowest + rand.IntN(highest-lowest)
		if free(port) {
			return port, nil
		}
	}
	return 0, errors.New("no free port on 127.0.0.1")
}

// free tells whether nothing listens at a port. It does not listen itself: a
// child process that is just being started keeps what we close open for a
// moment, and what does not listen is not in a server's way.
func free(port int) bool {
	syscall.ForkLock.RLock()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return false
	}
	defer syscall.Close(fd)
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return false
	}
	return syscall.Bind(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}) == nil
}

// listen listens again where a listener of this process may just have been
// closed, and be open in a child for the same reason.
func listen(addr string) (net.Listener, error) {
	for limit := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		l, err := net.Listen("tcp", addr)
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(limit) {
			return l, err
		}
	}
}

// release closes a listener while no child is being started, so that it stops
// listening at once, or all but.
func release(l io.Closer) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return l.Close()
}
