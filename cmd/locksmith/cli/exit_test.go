package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"

	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/locksmith"
	"locksmith/locksmith/child"
	"locksmith/protocol"
)

// TestMoreSevere: of several statuses one decides, in whatever order they come.
func TestMoreSevere(t *testing.T) {
	all := append(slices.Clone(severity), 127, 0)
	for i, more := range all {
		for _, less := range all[i:] {
			for _, two := range [][2]int{{more, less}, {less, more}} {
				var a app
				a.settle(two[0])
				if a.settle(two[1]); a.status != more {
					t.Errorf("the statuses %v in this order end with %d, want the one that severity (exit.go) has first", two, a.status)
				}
			}
		}
	}
	for _, m := range meanings() {
		if !slices.Contains(severity, m.code.Exit()) {
			t.Errorf("exit status %d is missing in severity (exit.go)", m.code.Exit())
		}
	}
	if moreSevere(143, 77) != 143 || moreSevere(73, 130) != 73 {
		t.Error("a signal's status is not where severity (exit.go) has it")
	}
}

// TestExitStatus: a signal is told by its number, but not to a parent that waits for a lock.
func TestExitStatus(t *testing.T) {
	signal := &locksmith.SignalError{Signal: os.Signal(syscall.SIGTERM)}
	for _, c := range []struct {
		err  error
		want int
	}{
		{signal, 143},
		{fmt.Errorf("look: %w", signal), 143},
		{&locksmith.CancelledError{Cause: signal}, 75},
		{&locksmith.LossError{Code: protocol.Unreleased, Err: signal}, 79},
		{&child.Error{Status: 127}, 127},
		{flags.Usagef("x"), 64},
		{errors.New("unknown command"), 64},
		{errors.New("x"), 70},
		{&backend.Error{Code: protocol.Permission, Err: errors.New("x")}, 77},
	} {
		if got := exitStatus(c.err); got != c.want {
			t.Errorf("exit status of %v: %d, want %d", c.err, got, c.want)
		}
	}
}

// TestConflictStatus: the status of -E is for a lock that somebody else holds and may let go. All
// other errors keep their own, or a job that never runs again would look as if it were skipped.
func TestConflictStatus(t *testing.T) {
	held := func(h backend.Holder) error { return &backend.HeldError{Lock: "fake:/x", Holder: h} }
	given := flags.Number{Value: 3, Given: true}
	for _, c := range []struct {
		about string
		err   error
		want  int
	}{
		{"held", held(backend.Holder{PID: 7}), 3},
		{"held for good", held(backend.Holder{PID: 7, Overdue: true}), 75},
		{"unreachable", &backend.Error{Code: protocol.Unreachable, Err: errors.New("x")}, 69},
	} {
		if got := exitStatusOr(given, c.err); got != c.want {
			t.Errorf("with -E 3 the exit status of a lock that is %s is %d, want %d: look at exitStatusOr (exit.go)", c.about, got, c.want)
		}
		if got, want := exitStatusOr(flags.Number{}, c.err), exitStatus(c.err); got != want {
			t.Errorf("without -E the exit status of a lock that is %s is %d, want %d", c.about, got, want)
		}
	}
}
