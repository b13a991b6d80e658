package cli

import (
	"runtime/debug"
	"testing"
)

// TestVersionIn: a program that is its own helper has a version of its own.
func TestVersionIn(t *testing.T) {
	other := debug.Module{Path: "example.org/billing", Version: "v7.0.0"}
	for want, info := range map[string]*debug.BuildInfo{
		"v1.2.3":  {Main: debug.Module{Path: "locksmith", Version: "v1.2.3"}, Deps: []*debug.Module{{Path: "a", Version: "v9.0.0"}}},
		"v1.2.4":  {Main: other, Deps: []*debug.Module{{Path: "locksmith", Version: "v1.2.4"}}},
		"v1.2.5":  {Main: other, Deps: []*debug.Module{{Path: "locksmith", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/locksmith", Version: "v1.2.5"}}}},
		"(devel)": {Main: other, Deps: []*debug.Module{{Path: "locksmith", Version: "v0.0.0", Replace: &debug.Module{Path: "../locksmith"}}}},
	} {
		if got := versionIn(info); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
