package cli

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/process"
	"locksmith/protocol"
)

// mayRun refuses to run where it would not be safe, or not work.
func mayRun() error {
	if process.Elevated() {
		return unfit(protocol.Permission, "it may do more than who started it, because of its set-user-ID or set-group-ID bit or its file capabilities, and takes its settings from there",
			"chmod ug-s it, setcap -r it, or let the program that starts it take its real ids first")
	}
	return enoughFiles()
}

const (
	// fewFiles is a limit that is worth a closer look.
	fewFiles = 64
	// needFiles is how many files a command opens at a time. With less the Go runtime
	// may end the program without a word to the parent.
	needFiles = 8
)

// enoughFiles tries out a limit of open files that is low: some may be open already.
func enoughFiles() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur >= fewFiles {
		return nil
	}
	var open []int
	defer func() {
		for _, fd := range open {
			_ = unix.Close(fd)
		}
	}()
	for len(open) < needFiles {
		fd, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.EMFILE) {
			return unfit(protocol.Internal, fmt.Sprintf("it can open no more than %d files (its limit is %d), and needs %d", len(open), limit.Cur, needFiles),
				fmt.Sprintf("raise the limit: ulimit -n %d", fewFiles))
		}
		if err != nil {
			return nil // whoever opens the next one tells
		}
		open = append(open, fd)
	}
	return nil
}

func unfit(code protocol.Code, cause, hint string) error {
	return &backend.Error{Code: code, Lock: "this program", Op: "start", Err: errors.New(cause), Hint: hint}
}
