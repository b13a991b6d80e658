package backend

import (
	"errors"
	"syscall"
)

// Unclear reports that nobody knows whether a call to a file system had its effect, or will still
// have it: a soft mount gave up, a signal came, the server forgot the file, or the network does not
// reach the server.
//
// A stale handle is among these. The server says that it did nothing now; but it may have done it
// when it was asked first, and have forgotten that, and the export, when it was started again.
func Unclear(err error) bool {
	return IsErrno(err, syscall.EIO, syscall.ETIMEDOUT, syscall.EINTR, syscall.ESTALE,
		syscall.EHOSTDOWN, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ECONNREFUSED, syscall.ECONNRESET)
}

// IsErrno reports that an error is one of these errors of the operating system.
func IsErrno(err error, all ...syscall.Errno) bool {
	for _, errno := range all {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}
