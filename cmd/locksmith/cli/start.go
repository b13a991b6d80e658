package cli

import (
	"errors"
	"os"
	"runtime"
	"runtime/debug"

	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/programs"
	"locksmith/protocol"
)

// mayStart refuses to run where it would not be safe, or not work.
func mayStart() error {
	if programs.IsElevated() {
		return unfit(protocol.Permission, "it may do more than who started it, because of its set-user-ID or set-group-ID bit or its file capabilities, and takes its settings from there",
			"chmod ug-s it, setcap -r it, or let the program that starts it take its real ids first")
	}
	return enoughFiles()
}

func unfit(code protocol.Code, cause, hint string) error {
	return &backend.Error{Code: code, Lock: "this program", Op: "start", Err: errors.New(cause), Hint: hint}
}

// stayLean keeps a program small and quick that mostly waits, for days perhaps. With one
// processor what its goroutines tell each other wakes no other thread, and a call that
// hangs keeps only its own thread, as ever. (Our own program has given up the others
// before, in package singleproc; one that is its own helper does it here.) Garbage is
// collected from 1 MiB on, not only from 4 MiB; what a helper needs to start is less.
func stayLean() {
	runtime.GOMAXPROCS(1)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(25)
	}
}
