//go:build unix

// Package posix holds what the backends on file systems ask of the kernel in the same way: calls
// that a signal may interrupt; directories that are reached without symbolic links, listed past
// any cache, and shared with those who use the directory beside them; and waiting for a removal.
//
// Errors are the system's own. A call that a signal interrupted is repeated only where that is
// safe: the call changes nothing, or says for certain that it did nothing.
package posix

import (
	"errors"

	"golang.org/x/sys/unix"
)

// RetryEINTR repeats a call that a signal interrupted. It is for calls that change nothing, or
// say for certain that they did nothing. close(2) is not one.
func RetryEINTR(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Write writes all of s.
func Write(fd int, s string) error {
	for len(s) > 0 {
		var n int
		err := RetryEINTR(func() (err error) {
			n, err = unix.Write(fd, []byte(s))
			return err
		})
		if err != nil {
			return err
		}
		s = s[n:]
	}
	return nil
}

// Read returns what a file holds from its beginning, at most limit bytes.
func Read(fd, limit int) (string, error) {
	buf := make([]byte, limit)
	n := 0
	for n < len(buf) {
		var got int
		err := RetryEINTR(func() (err error) {
			got, err = unix.Pread(fd, buf[n:], int64(n))
			return err
		})
		if err != nil {
			return "", err
		}
		if got == 0 {
			break
		}
		n += got
	}
	return string(buf[:n]), nil
}
