//go:build unix

package term

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrUnread is the error of a write to a pipe whose reader has gone.
const ErrUnread = syscall.EPIPE

// understands: all terminals draw as we ask them to.
func understands(*os.File) bool { return true }

// Foreground reports whether our job has the terminal, if it is ours.
func Foreground(f *os.File) (ours, known bool) {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp(), err == nil
}

// The signals of a terminal whose size has changed, and of one that asks us to stop.
const resized, toStop = syscall.SIGWINCH, syscall.SIGTSTP

// stopUs stops this process, and returns when it is continued.
func stopUs() {
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGCONT)
	defer signal.Stop(again)
	if err := unix.Kill(os.Getpid(), unix.SIGSTOP); err == nil {
		<-again
	}
}
