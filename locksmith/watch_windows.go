package locksmith

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"locksmith/backends/process"
)

// disregard catches signals to do nothing: an ignored one would end us here.
func disregard(signals ...os.Signal) { signal.Notify(make(chan os.Signal, 1), signals...) }

func meaningless() []os.Signal     { return []os.Signal{syscall.SIGPIPE} } // none would be all
func terminalSignals() []os.Signal { return []os.Signal{os.Interrupt} }
func endSignals() []os.Signal      { return []os.Signal{syscall.SIGTERM} } // log off, shut down

// deathHint is a channel that nothing comes from.
func (w Watch) deathHint() <-chan os.Signal { return nil }

// orphaned reports that our parent had ended before we looked, and its pid is now
// another's, which began after we did: no child learns of that otherwise.
func orphaned(p process.Process) bool {
	self, err := process.Find(os.Getpid())
	return err == nil && p.Start > self.Start
}

// errNoReader is the error of a write to a pipe.
const errNoReader = windows.ERROR_NO_DATA

// hangupLook is how often Hangup looks: nothing on Windows tells of it.
const hangupLook = 100 * time.Millisecond

// Hangup returns when the other end of a pipe is gone. It never reads or writes a
// byte: even a write of none would look like the end to many who read.
func Hangup(ctx context.Context, f *os.File) error {
	ticker := time.NewTicker(hangupLook)
	defer ticker.Stop()
	for {
		if gone, err := hungUp(f); gone || err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// The states of a pipe that is of no use any more: FILE_PIPE_DISCONNECTED_STATE, and
// FILE_PIPE_CLOSING_STATE, when the other end has been closed.
const pipeDisconnected, pipeClosing = 1, 4

// hungUp reports whether the other end of a pipe is gone by now.
func hungUp(f *os.File) (bool, error) {
	state, err := pipeState(windows.Handle(f.Fd()))
	return state == pipeDisconnected || state == pipeClosing, err
}

// pipeInformation is FILE_PIPE_LOCAL_INFORMATION.
type pipeInformation struct {
	before [8]uint32
	state  uint32
	end    uint32
}

var queryFile = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtQueryInformationFile")

func pipeState(pipe windows.Handle) (uint32, error) {
	const filePipeLocalInformation = 24
	var status windows.IO_STATUS_BLOCK
	var info pipeInformation
	code, _, _ := queryFile.Call(uintptr(pipe), uintptr(unsafe.Pointer(&status)), uintptr(unsafe.Pointer(&info)),
		unsafe.Sizeof(info), filePipeLocalInformation)
	if code != 0 {
		return 0, fmt.Errorf("ask for the state of a pipe: %w", windows.NTStatus(code))
	}
	return info.state, nil
}
