//go:build unix && !linux

package flocks

import (
	"os"

	"golang.org/x/sys/unix"
)

// Look asks the kernel whether somebody has a lock on the file at a path, which must be
// readable. These kernels have one kind of lock for flock(2) and fcntl(2), so they answer
// without taking it.
func Look(path string) (Seen, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return Seen{}, err
	}
	defer f.Close()
	whole := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &whole); err != nil {
		return Seen{}, os.NewSyscallError("fcntl", err)
	}
	return Seen{Unnamed: whole.Type != unix.F_UNLCK, Shared: whole.Type == unix.F_RDLCK}, nil
}

// Hides reports that nothing is hidden here.
func Hides() bool { return false }

// Glance is Look here.
func Glance(path string) (Seen, error) { return Look(path) }

// Peek is Look here.
func Peek(path string) (Seen, error) { return Look(path) }

// Of sees nothing here: this kernel does not tell what a process has locked.
func Of(string, ...int) Seen { return Seen{} }

// Snapshot is Look here.
func Snapshot() func(string) (Seen, error) { return Look }
