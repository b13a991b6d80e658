//go:build unix

package process

import (
	"math/rand/v2"
	"os"

	"golang.org/x/sys/unix"
)

// Lend returns a copy of a descriptor, to be inherited by the program that is started now, or that
// this process becomes. Otherwise the caller closes it afterwards. Its number is far from those
// that scripts choose, because a script that opens something under the same number closes the
// copy.
func Lend(fd int) (int, error) {
	lent, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD, outOfTheWay())
	if err == unix.EMFILE || err == unix.EINVAL { // all numbers up to the limit are taken
		lent, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD, firstFree)
	}
	return lent, os.NewSyscallError("fcntl", err)
}

// firstFree is the first number that is not of a standard stream.
const firstFree = 3

// outOfTheWay is just below 64, or below the limit of descriptors. Shells take 10 and up, and
// 255; people like 9, 100 and 200. Above 64 the kernel makes a larger table of descriptors, and a
// process with threads then waits until all processors have seen it: 8 ms and more.
func outOfTheWay() int {
	most := 64
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil && uint64(limit.Cur) < uint64(most) {
		most = int(limit.Cur)
	}
	return most - 1 - rand.N(most/8+1)
}
