package posix

import (
	"errors"

	"golang.org/x/sys/unix"
)

// A RefusedError says that the kernel lacks a call, or that a seccomp profile keeps this
// process from making it. Some profiles answer EPERM, which says nothing about rights.
type RefusedError struct{ Call string }

func (e *RefusedError) Error() string {
	return "this kernel, or the seccomp profile of this container, refuses " + e.Call + "(2)"
}

// Refused names the call, for backend.FileError.
func (e *RefusedError) Refused() string { return e.Call }

// Statx is statx(2), repeated after EINTR. Its error distinguishes a refused call (*RefusedError)
// from a refused file: if we have no right to the file, the kernel itself answers EACCES.
func Statx(fd int, path string, flags, mask int, st *unix.Statx_t) error {
	err := RetryEINTR(func() error { return unix.Statx(fd, path, flags, mask, st) })
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) {
		return &RefusedError{"statx"}
	}
	return err
}

// Rename2 is renameat2(2). It is told apart whether the call is refused or the names: names that
// are empty the kernel itself does not find, whoever asks.
func Rename2(source int, old string, target int, name string, flags uint) error {
	err := unix.Renameat2(source, old, target, name, flags)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) && errors.Is(unix.Renameat2(-1, "", -1, "", 0), unix.EPERM) {
		return &RefusedError{"renameat2"}
	}
	return err
}
