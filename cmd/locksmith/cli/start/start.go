// Package start has what our programs do before anything else.
package start

import (
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/programs"
	"locksmith/protocol"
)

// Allowed refuses to run where running would not be safe, or would not work.
func Allowed() error {
	if programs.IsElevated() {
		return unfit(protocol.Permission, "it may do more than who started it, because of its set-user-ID or set-group-ID bit or its file capabilities, and takes its settings from there",
			"chmod ug-s it, setcap -r it, or let the program that starts it take its real ids first")
	}
	return enoughFiles()
}

func unfit(code protocol.Code, cause, hint string) error {
	return &backend.Error{Code: code, Lock: "this program", Op: "start", Err: errors.New(cause), Hint: hint}
}

// Lean keeps small and quick a program that mostly waits, for days perhaps. With one
// processor its goroutines wake no other thread when they talk to each other, and a call that
// hangs still keeps only its own thread. (Our own program has given up the other processors
// before, in package singleproc. A program that is its own helper does it here.) After a second
// garbage is collected from 1 MiB on, not only from 4 MiB. To say so stops the whole program for a
// moment, and most runs end before.
func Lean() {
	runtime.GOMAXPROCS(1)
	if os.Getenv("GOGC") == "" {
		time.AfterFunc(time.Second, func() { debug.SetGCPercent(25) })
	}
}
