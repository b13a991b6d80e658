package cli

import (
	"os"
	"slices"
	"strings"

	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/caller"
)

// waitsForUs says that a holder is a run that waits for the end of its command, below which
// we are, or "". The id alone does not tell: at(1) jobs, say, keep the environment of who
// made them.
func waitsForUs(h backend.Holder) string {
	r := h.Record
	if r == nil || !slices.Contains(strings.Split(os.Getenv("LOCKSMITH_ID"), ","), r.ID) || !caller.HasAncestor(r.Helper) {
		return ""
	}
	return "this program runs under that lock, and would wait for itself: leave the inner lock out, name another, or limit the wait with --timeout"
}
