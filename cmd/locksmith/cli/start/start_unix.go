//go:build unix

package start

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"locksmith/protocol"
)

const (
	// fewFiles is a limit below which enoughFiles tries it out.
	fewFiles = 64
	// needFiles is how many files a command opens at a time, and two more, for the Go runtime
	// opens some later or never, as the system has them (cgroups). With fewer the runtime may end
	// the program without a word to the parent.
	needFiles = 10
)

// enoughFiles tries whether enough files can be opened if their limit is low: some may be open
// already.
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
			return nil // the next open file tells
		}
		open = append(open, fd)
	}
	return nil
}
