package request

import (
	"locksmith/backends"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/profile"
)

// notAgain are the flags that are for all requests of a helper that serves several, and so are
// given at its start.
var notAgain = []string{"again", "parent", "stdin", "beats", "events", "log-level", "log-format", "quiet", "conflict-exit-code", "lock-file"}

// CheckAgain refuses what one request of several cannot say.
func (o *Options) CheckAgain() error {
	for _, flag := range notAgain {
		if o.given(flag) {
			return flags.Usagef("--%s is for all requests, and is given when hold --again is started", flag)
		}
	}
	return nil
}

// Repeatable reports that nothing of these locks stays in the process that has had them: they
// are of kinds on file systems. Of those that it cannot tell, whoever opens them does.
func Repeatable(locks []string) bool {
	for _, lock := range locks {
		_, lock = cutMode(lock)
		if found, err := profile.System().Resolve(lock); err == nil && !backends.InFiles(found.Lock) {
			return false
		}
	}
	return true
}
