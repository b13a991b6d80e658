package locksmith

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"

	"locksmith/backends/process"
)

// disregard catches signals and does nothing with them: on Windows an ignored signal would end
// us.
func disregard(signals ...os.Signal) { signal.Notify(make(chan os.Signal, 1), signals...) }

func meaningless() []os.Signal     { return []os.Signal{syscall.SIGPIPE} } // an empty list would mean all signals
func terminalSignals() []os.Signal { return []os.Signal{os.Interrupt} }
func endSignals() []os.Signal      { return []os.Signal{syscall.SIGTERM} } // log off, shut down

// deathHint returns a channel on which nothing comes.
func (w Watch) deathHint() <-chan os.Signal { return nil }

// orphaned reports that our parent had ended before we looked, and that a process which began
// after us has its pid now. A child cannot learn of that in another way.
func orphaned(p process.Process) bool {
	self, err := process.Find(os.Getpid())
	return err == nil && p.Start > self.Start
}

// errNoReader is the error of a write to a pipe that nobody reads.
const errNoReader = windows.ERROR_NO_DATA

// The states of a pipe that is of no more use: FILE_PIPE_DISCONNECTED_STATE, and
// FILE_PIPE_CLOSING_STATE, when the other end has been closed.
const pipeDisconnected, pipeClosing = 1, 4

// hungUp reports whether the other end of a pipe is gone by now. It asks for the pipe's state: even a
// write of no bytes would look like the end to many readers.
func hungUp(f *os.File, _ bool) (bool, error) {
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

// readable: nothing here reads requests.
func readable(*os.File) (bool, error) { return false, errors.ErrUnsupported }
