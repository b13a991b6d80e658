package request

import (
	"locksmith/backends"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/profile"
)

// notAgain are flags that hold for all requests of a helper that serves several, and so are
// given at its start.
var notAgain = []string{"again", "parent", "stdin", "beats", "events", "log-level", "log-format", "quiet", "conflict-exit-code", "lock-file"}

// CheckAgain refuses what a request to such a helper cannot say.
func (o *Options) CheckAgain() error {
	for _, flag := range notAgain {
		if o.given(flag) {
			return flags.Usagef("--%s is for all requests, and is given when hold --again is started", flag)
		}
	}
	return nil
}

// Repeatable reports whether nothing of these locks stays in the process that has had them: they
// are of kinds on file systems. It accepts unknown ones, which fail when they are opened.
func Repeatable(locks []string) bool {
	for _, lock := range locks {
		_, lock = cutMode(lock)
		if found, err := profile.System().Resolve(lock); err == nil && !backends.InFiles(found.Lock) {
			return false
		}
	}
	return true
}
