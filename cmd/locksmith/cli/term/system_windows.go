package term

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// ErrUnread is the error of a write to a pipe whose reader has gone.
const ErrUnread = windows.ERROR_NO_DATA

// understands has a console obey the sequences by which we draw, if it can.
func understands(f *os.File) bool {
	console := windows.Handle(f.Fd())
	var mode uint32
	return windows.GetConsoleMode(console, &mode) == nil &&
		windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}

// Foreground: Windows has no jobs that take turns.
func Foreground(f *os.File) (ours, known bool) {
	ours = Is(f)
	return ours, ours
}

// Signals that never come here.
const resized, toStop = syscall.Signal(-1), syscall.Signal(-2)

func stopUs() {}
