package cli

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// nobodyReads is the error of a write to a pipe whose reader has gone.
const nobodyReads = windows.ERROR_NO_DATA

// terminalSize is in characters; not ok: it is no console, or does not understand how
// we draw.
func terminalSize(f *os.File) (width, height int, ok bool) {
	console := windows.Handle(f.Fd())
	var mode uint32
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleMode(console, &mode) != nil || windows.GetConsoleScreenBufferInfo(console, &info) != nil ||
		windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) != nil {
		return 0, 0, false
	}
	return int(info.Window.Right-info.Window.Left) + 1, int(info.Window.Bottom-info.Window.Top) + 1, true
}

// hasForeground: there are no jobs that take turns.
func hasForeground(f *os.File) (ours, known bool) {
	_, _, ok := terminalSize(f)
	return ok, ok
}

// Signals that never come here.
const resized, toStop = syscall.Signal(-1), syscall.Signal(-2)

func stopUs() {}
