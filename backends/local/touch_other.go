//go:build unix && !linux

package local

import "golang.org/x/sys/unix"

// touch sets the file's times to now.
func (f *file) touch() error {
	return retryEINTR(func() error { return unix.Futimes(f.fd, nil) })
}
