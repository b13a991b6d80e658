//go:build unix

package lab

import (
	"math/rand/v2"
	"syscall"
	"testing"
)

// The ports from which we choose. The kernel takes ports from 32768 on for itself (ip(7)).
const lowestReserved, highestReserved = 12000, 32000

// ReservePort finds a port on 127.0.0.1, and none of those that the kernel takes for itself. It
// keeps the port for the servers of one test until the test ends, even while they are down, and
// whatever other tests look for a port.
func ReservePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := lowestReserved + rand.IntN(highestReserved-lowestReserved)
		if giveBack, err := Reserve(port); err == nil {
			t.Cleanup(giveBack)
			return port
		}
	}
	t.Fatal("no free port on 127.0.0.1")
	return 0
}

// Reserve binds a socket to a port and does not listen. Without SO_REUSEADDR it gets the port
// only if nobody else is bound to it. Then it sets SO_REUSEADDR. A server sets that option, too,
// so it may bind and listen beside us (socket(7)).
func Reserve(port int) (giveBack func(), err error) {
	syscall.ForkLock.RLock()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, err
	}
	err = syscall.Bind(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	if err == nil {
		err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	}
	if err != nil {
		syscall.Close(fd)
		return nil, err
	}
	return func() { syscall.Close(fd) }, nil
}
