//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// nobodyReads is the error of a write to a pipe whose reader has gone.
const nobodyReads = syscall.EPIPE

// terminalSize is in characters; not ok: it is no terminal.
func terminalSize(f *os.File) (width, height int, ok bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, false
	}
	return int(size.Col), int(size.Row), true
}

// hasForeground reports whether our job has the terminal, if it is ours.
func hasForeground(f *os.File) (ours, known bool) {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp(), err == nil
}

// The signals of a terminal that has another size, and that asks us to stop.
const resized, toStop = syscall.SIGWINCH, syscall.SIGTSTP

// stopUs returns when we are continued.
func stopUs() {
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGCONT)
	defer signal.Stop(again)
	if err := unix.Kill(os.Getpid(), unix.SIGSTOP); err == nil {
		<-again
	}
}
