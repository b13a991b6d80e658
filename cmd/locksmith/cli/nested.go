package cli

import (
	"os"
	"slices"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/cmd/locksmith/cli/programs"
)

// waitsForUs says that a holder is a run that waits for the end of its command, and that we are
// below that command, or it is "". The environment does not tell: other locks come between, sudo and
// env -i empty it, and at(1) jobs keep that of who made them. Or it says that we have the lock
// ourselves.
func waitsForUs(h backend.Holder) string {
	if h.Record == nil {
		return hasIt(h)
	}
	if p, seen := h.Record.Lives(owner.Here()); !seen || p != h.Record.Helper || !programs.HasAncestor(p) {
		return hasIt(h)
	}
	return "this program runs under that lock, and would wait for itself: leave the inner lock out, name another, or limit the wait with --timeout"
}

// hasIt says that this process has inherited the lock, or "".
func hasIt(h backend.Holder) string {
	if !slices.Contains(h.Kept, os.Getpid()) {
		return ""
	}
	return "this program has inherited the descriptor of that lock, and would wait for itself: close it before, as in 9>&-, or leave the lock out"
}
