package cli

import (
	"testing"

	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/cli/request"
)

// TestBreakCommand: the command line that is advised names the lock as the user's did.
func TestBreakCommand(t *testing.T) {
	for want, n := range map[string]request.Named{
		"locksmith break link: --force":                          {},
		"locksmith break --insecure --ca a link: --force":        {Connect: request.Connect{Insecure: true, CA: "a"}},
		"locksmith break --for a --suffix .lck link: --force":    {File: flags.File{Path: "a", Suffix: ".lck"}},
		"locksmith break --for 'a b' --suffix ' ' link: --force": {File: flags.File{Path: "a b", Suffix: " "}},
	} {
		if got := breakCommand(&n, []string{"link:"}, "--force"); got != want {
			t.Errorf("advised is %s, want %s", got, want)
		}
	}
}
