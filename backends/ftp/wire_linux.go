package ftp

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// readNow reads what has arrived already. If nothing has, its error is that of a deadline, after
// which TLS can be read again.
func (w *wire) readNow(b []byte) (int, error) {
	conn, ok := w.Conn.(syscall.Conn)
	if !ok {
		return 0, os.ErrDeadlineExceeded
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	n, failed := 0, error(nil)
	err = raw.Read(func(fd uintptr) bool {
		n, failed = unix.Read(int(fd), b)
		return true
	})
	switch {
	case err != nil:
		return 0, err
	case errors.Is(failed, unix.EAGAIN), errors.Is(failed, unix.EINTR):
		return 0, os.ErrDeadlineExceeded
	case failed != nil:
		return 0, os.NewSyscallError("read", failed)
	case n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return n, nil
}
