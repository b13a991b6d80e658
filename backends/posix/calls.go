//go:build unix

package posix

import (
	"errors"

	"golang.org/x/sys/unix"
)

// RetryEINTR makes a call again that a signal interrupted. It is for calls that
// change nothing, or tell for certain that they did nothing. close(2) is not one.
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

// Read returns what a file holds from its beginning, at most limit bytes of it.
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

// Within is a directory that the user named, which may be a symbolic link to it, as
// /var/lock is.
func Within(path string) string { return path + "/." }
