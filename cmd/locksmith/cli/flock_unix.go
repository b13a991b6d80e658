//go:build unix

package cli

import (
	"errors"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"locksmith/backends/clock"
	"locksmith/locksmith"
)

// lockDescriptor locks, or unlocks, a descriptor that this process inherited. Who else has it keeps the
// lock. A thread that sleeps in flock(2) cannot be woken, and may be given the lock after we gave up. So
// when the time is over this process becomes itself with --waited, which ends all threads (execve(2)), and
// tries once more: if the thread was given the lock at the last moment, this process has it already.
func (o *flocking) lockDescriptor(args []string) error {
	set, err := unix.FcntlInt(uintptr(o.fd), unix.F_GETFD, 0)
	if err != nil || set&unix.FD_CLOEXEC != 0 { // we have opened it ourselves
		return unix.EBADF
	}
	how := map[byte]int{'s': unix.LOCK_SH, 'x': unix.LOCK_EX, 'u': unix.LOCK_UN}[o.mode]
	if o.wait == 0 {
		how |= unix.LOCK_NB
	}
	locked := make(chan error, 1)
	go func() {
		err := error(unix.EINTR)
		for errors.Is(err, unix.EINTR) {
			err = unix.Flock(o.fd, how)
		}
		locked <- err
	}()
	if o.wait == 0 || o.wait == locksmith.Forever {
		return <-locked
	}
	timer := clock.Boot{}.NewTimer(o.wait)
	defer timer.Stop()
	select {
	case err := <-locked:
		return err
	case <-timer.C():
	}
	path, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(path, slices.Concat([]string{"locksmith", "flock", "--waited"}, args[1:]), os.Environ())
}
