package cli

import (
	"errors"

	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/caller"
	"locksmith/protocol"
)

// mayRun refuses to run where it would not be safe, or not work.
func mayRun() error {
	if caller.IsElevated() {
		return unfit(protocol.Permission, "it may do more than who started it, because of its set-user-ID or set-group-ID bit or its file capabilities, and takes its settings from there",
			"chmod ug-s it, setcap -r it, or let the program that starts it take its real ids first")
	}
	return enoughFiles()
}

func unfit(code protocol.Code, cause, hint string) error {
	return &backend.Error{Code: code, Lock: "this program", Op: "start", Err: errors.New(cause), Hint: hint}
}
