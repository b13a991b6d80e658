package locksmith

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"locksmith/backends/process"
)

// A StdinUse says what the helper's standard input is for.
type StdinUse string

// The uses of standard input.
const (
	StdinAuto   StdinUse = ""       // find out
	StdinWatch  StdinUse = "watch"  // its end releases the lock
	StdinIgnore StdinUse = "ignore" // it is none of our business
)

// ParseStdinUse parses "auto", "watch" or "ignore".
func ParseStdinUse(s string) (StdinUse, error) {
	switch s {
	case "auto":
		return StdinAuto, nil
	case string(StdinWatch), string(StdinIgnore):
		return StdinUse(s), nil
	}
	return "", fmt.Errorf("%q is not auto, watch or ignore", s)
}

// stdinIsOurs decides whether the end of standard input is a message to us. The end of a file, a
// terminal or /dev/null is none. Neither is the end of a pipe that is also the parent's own
// standard input: that pipe carries the parent's data, and a helper that was started only for its
// output has inherited it. If this cannot be found out, the error says so.
func (w Watch) stdinIsOurs() (bool, error) {
	if w.StdinUse != StdinAuto || !IsPipe(w.Stdin) {
		return w.StdinUse == StdinWatch && IsPipe(w.Stdin), nil
	}
	theirs, err := sharesStdin(os.Getppid(), w.Stdin, w.Stdout)
	return err == nil && !theirs, err
}

// sharesStdin reports whether stdin is also the standard input of process pid.
func sharesStdin(pid int, stdin, stdout *os.File) (bool, error) {
	mine, err := stdin.Stat()
	if err != nil {
		return false, err
	}
	if _, err := os.Stat("/proc/self/fd/0"); err != nil {
		return false, err // no /proc: nothing can be found out
	}
	if err := process.CheckProc(); err != nil {
		return false, err
	}
	theirs, err := os.Stat(fmt.Sprintf("/proc/%d/fd/0", pid))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	out, _ := stdout.Stat()
	if err != nil || IsPipe(stdout) && os.SameFile(theirs, out) {
		// A shell that executes "read <&3" has put its own standard input aside for the moment,
		// and this may be that moment.
		return readsFrom(pid, mine)
	}
	return os.SameFile(mine, theirs), nil
}

// readsFrom reports whether a process has a file open for reading.
func readsFrom(pid int, file os.FileInfo) (bool, error) {
	dir := fmt.Sprintf("/proc/%d/", pid)
	fds, err := os.ReadDir(dir + "fd")
	if err != nil {
		return false, err
	}
	for _, fd := range fds {
		st, err := os.Stat(dir + "fd/" + fd.Name())
		if err != nil || !os.SameFile(file, st) {
			continue
		}
		info, err := os.ReadFile(dir + "fdinfo/" + fd.Name())
		if err == nil && !writeOnly(string(info)) {
			return true, nil
		}
	}
	return false, nil
}

// writeOnly parses the access mode in the octal flags of proc_pid_fdinfo(5).
func writeOnly(fdinfo string) bool {
	for line := range strings.Lines(fdinfo) {
		if flags, ok := strings.CutPrefix(line, "flags:"); ok {
			return strings.HasSuffix(strings.TrimSpace(flags), "1")
		}
	}
	return false
}

// IsPipe reports whether a hang-up of f tells something: it is a pipe or a socket.
func IsPipe(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && st.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}
