//go:build unix && !linux

package local

import (
	"golang.org/x/sys/unix"

	"locksmith/backends/posix"
)

// touch sets the file's times to now.
func (f *file) touch() error {
	return posix.RetryEINTR(func() error { return unix.Futimes(f.fd, nil) })
}
