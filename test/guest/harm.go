//go:build linux

package guest

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// StepClock moves the guest's wall clock, which all hosts and the server share.
func StepClock(by time.Duration) error {
	to := unix.NsecToTimespec(time.Now().Add(by).UnixNano())
	return unix.ClockSettime(unix.CLOCK_REALTIME, &to)
}

// FillDisk leaves room for no more than so many names and bytes on the disk that path is on. It
// makes a file at path, and further files whose names begin with path.
func FillDisk(path string, names int, bytes int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	made := 0
	for ; err == nil; made++ {
		err = unix.Mknod(fmt.Sprintf("%s-%d", path, made), unix.S_IFREG|0o600, 0)
	}
	if !errors.Is(err, unix.ENOSPC) {
		return err
	}
	for ; names > 0 && made > 0; names-- {
		made--
		_ = os.Remove(fmt.Sprintf("%s-%d", path, made)) // there was no room for the last one
	}
	total := int64(0)
	for size := int64(1 << 30); size >= 1<<10; {
		if unix.Fallocate(int(f.Fd()), 0, total, size) != nil {
			size /= 2
			continue
		}
		total += size
	}
	return f.Truncate(max(total-bytes, 0))
}
