package process

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// open returns a handle of the process with this pid. The caller closes it.
func open(pid int) (windows.Handle, error) {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE|windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	switch {
	case errors.Is(err, windows.ERROR_INVALID_PARAMETER):
		return 0, ErrNoProcess
	case err != nil:
		return 0, fmt.Errorf("pid %d: %w: %w", pid, ErrNotVisible, err)
	}
	return h, nil
}

// stat returns when pid was started, in units of 100 ns since 1601, and whether it has ended. An
// ended process keeps its pid while anybody has a handle of it.
func stat(pid int) (start uint64, ended bool, err error) {
	h, err := open(pid)
	if err != nil {
		return 0, false, err
	}
	defer windows.CloseHandle(h)
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return 0, false, fmt.Errorf("pid %d: %w: %w", pid, ErrNotVisible, err)
	}
	event, err := windows.WaitForSingleObject(h, 0)
	return uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime), err == nil && event == windows.WAIT_OBJECT_0, nil
}

func exited(ctx context.Context, p Process) (<-chan struct{}, error) {
	done := make(chan struct{})
	h, err := open(p.PID)
	if errors.Is(err, ErrNoProcess) {
		close(done)
		return done, nil
	}
	if err != nil {
		return nil, err
	}
	// From now on the pid is pinned. Before, another process may have got it.
	if p.Gone() {
		close(done)
		return done, windows.CloseHandle(h)
	}
	wake, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		_ = windows.CloseHandle(h)
		return nil, os.NewSyscallError("CreateEvent", err)
	}
	go func() {
		if first, err := waitForEither(ctx, h, wake); err == nil && first {
			close(done)
		}
		_, _ = windows.CloseHandle(h), windows.CloseHandle(wake)
	}()
	return done, nil
}

// waitForEither sleeps until h is signalled, and returns true, or until ctx ends, which signals
// wake.
func waitForEither(ctx context.Context, h, wake windows.Handle) (first bool, err error) {
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(woken)
		_ = windows.SetEvent(wake)
	})
	defer func() {
		if !stop() {
			<-woken // wake must not be closed earlier
		}
	}()
	event, err := windows.WaitForMultipleObjects([]windows.Handle{h, wake}, false, windows.INFINITE)
	return event == windows.WAIT_OBJECT_0, err
}
