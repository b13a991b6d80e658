package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// stat returns the start time of pid and whether it has ended already (a
// zombie, which nobody has waited for yet).
func stat(pid int) (start uint64, over bool, err error) {
	fields, err := statFields(pid)
	if err != nil {
		return 0, false, statError(pid, err)
	}
	start, err = strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		return 0, false, fmt.Errorf("pid %d: start time: %w", pid, err)
	}
	return start, ended(fields), nil
}

// statFields returns the fields of /proc/PID/stat from the third, the state.
func statFields(pid int) ([]string, error) {
	if err := CheckProc(); err != nil {
		return nil, err
	}
	return fieldsInProc(pid)
}

// fieldsInProc is statFields of the process that /proc shows by this number.
func fieldsInProc(pid int) ([]string, error) {
	line, err := readShort("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil, err
	}
	return parseStat(line)
}

// readShort reads a file of /proc that the kernel hands out in one piece, with a third
// of the system calls of os.ReadFile: waiters come here at every release.
func readShort(path string) (string, error) {
	fd, err := again(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return "", &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	buf := make([]byte, 1024) // more than the longest line of /proc/PID/stat
	n, err := again(func() (int, error) { return unix.Read(fd, buf) })
	if err != nil {
		return "", &os.PathError{Op: "read", Path: path, Err: err}
	}
	return string(buf[:n]), nil
}

// again makes a call until no signal interrupts it.
func again(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// parseStat splits such a line. Its second field is the program's name in brackets,
// and may hold anything.
func parseStat(line string) ([]string, error) {
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) < 20 {
		return nil, errors.New("/proc shows a line of unknown shape")
	}
	return fields, nil
}

// ended reads the state and, 17 fields on, the number of threads. A process
// whose main thread alone has ended shows Z too, while the others work on.
func ended(fields []string) bool {
	return fields[0] == "X" || fields[0] == "Z" && (fields[17] == "0" || fields[17] == "1")
}

// statError tells an absent process from one that is hidden (hidepid, no
// /proc): signal 0 reaches the latter.
func statError(pid int, err error) error {
	if kill := unix.Kill(pid, 0); errors.Is(kill, unix.ESRCH) {
		return ErrNoProcess
	}
	return fmt.Errorf("pid %d: %w: %w", pid, ErrNotVisible, err)
}

func exited(ctx context.Context, p Process) (<-chan struct{}, error) {
	fd, err := p.Open()
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	if fd < 0 {
		close(done)
		return done, nil
	}
	go func() {
		if Readable(ctx, fd) == nil {
			close(done)
		}
	}()
	return done, nil
}

// Readable takes over a pollable, non-blocking descriptor, returns when poll
// reports anything on it or ctx ends, and closes it. It parks a goroutine, not
// a thread.
func Readable(ctx context.Context, fd int) error {
	f := os.NewFile(uintptr(fd), "watched descriptor")
	defer f.Close()
	stop := context.AfterFunc(ctx, func() { _ = f.Close() })
	defer stop()
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(func(fd uintptr) bool {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, 0)
		return n > 0 && err == nil
	})
}
