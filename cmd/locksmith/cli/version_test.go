package cli

import (
	"runtime/debug"
	"slices"
	"testing"

	"locksmith/backends"
	"locksmith/cmd/locksmith/cli/request"
	"locksmith/protocol"
)

// TestAbilities: with this a program asks what a helper can do before it relies on it.
func TestAbilities(t *testing.T) {
	got := (&app{self: request.Program{Kinds: backends.Usual()}}).abilities()
	if got.Protocol != protocol.Version || got.Version == "" || got.Formats["records"] != "1" {
		t.Errorf("version --json tells %+v", got)
	}
	for _, flag := range []string{"--parent", "--beats", "--events", "--shared"} {
		if !slices.Contains(got.Hold, flag) {
			t.Errorf("version --json lacks the flag %s of hold: %q", flag, got.Hold)
		}
	}
	if !slices.Contains(got.Kinds, kindOf{"nfs", 1}) || len(got.Kinds) != len(backends.Usual()) {
		t.Errorf("version --json tells the kinds %v", got.Kinds)
	}
}

// TestVersionIn: a program that is its own helper has its own version.
func TestVersionIn(t *testing.T) {
	other := debug.Module{Path: "example.org/billing", Version: "v7.0.0"}
	for want, info := range map[string]*debug.BuildInfo{
		"v1.2.3":  {Main: debug.Module{Path: "locksmith", Version: "v1.2.3"}, Deps: []*debug.Module{{Path: "a", Version: "v9.0.0"}}},
		"v1.2.4":  {Main: other, Deps: []*debug.Module{{Path: "locksmith", Version: "v1.2.4"}}},
		"v1.2.5":  {Main: other, Deps: []*debug.Module{{Path: "locksmith", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/locksmith", Version: "v1.2.5"}}}},
		"(devel)": {Main: other, Deps: []*debug.Module{{Path: "locksmith", Version: "v0.0.0", Replace: &debug.Module{Path: "../locksmith"}}}},
	} {
		if got := versionIn(info); got != want {
			t.Errorf("versionIn is %q, want %q", got, want)
		}
	}
}
