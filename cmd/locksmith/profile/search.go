package profile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// An Env is where profiles and passwords come from.
type Env struct {
	Files  []string            // that hold profiles; the first one that has a name counts
	Home   string              // what "~" stands for; "": unknown
	Getenv func(string) string // looks up environment variables
}

// System returns the Env of this process.
func System() Env {
	e := Env{Getenv: os.Getenv}
	e.Home, _ = os.UserHomeDir()
	config := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) && e.Home != "" { // the XDG specification has us ignore relative ones
		config = filepath.Join(e.Home, ".config")
	}
	if filepath.IsAbs(config) {
		e.Files = append(e.Files, filepath.Join(config, "locksmith", "profiles.toml"))
	}
	e.Files = append(e.Files, "/etc/locksmith/profiles.toml")
	return e
}

// Resolve returns the profile of that name. An address, or what can only be
// meant as one, is a lock without settings.
func (e Env) Resolve(lock string) (*Profile, error) {
	if !isName(lock) {
		return &Profile{Lock: lock, env: e}, nil
	}
	for _, file := range e.Files {
		profiles, err := e.read(file)
		if err != nil {
			return nil, err
		}
		if p := profiles[lock]; p != nil {
			return p, p.checkSources()
		}
	}
	return nil, e.unknown(lock)
}

// Names returns the names of all profiles that can be read.
func (e Env) Names() []string {
	var names []string
	for _, file := range e.Files {
		profiles, _ := e.read(file)
		for name := range profiles {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (e Env) unknown(name string) error {
	hint := "write the profile there, or give an address: write for example local:/var/lock/name"
	if near := nearest(name, e.Names()); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	cause := errors.New("there is no file to look in")
	if len(e.Files) > 0 {
		cause = fmt.Errorf("it is not in %s", strings.Join(e.Files, " nor in "))
	}
	return fail(name, "find profile", cause, hint)
}

// isName reports whether s may name a profile. It is then a bare key of TOML,
// neither an address nor a flag.
func isName(s string) bool {
	return s != "" && s[0] != '-' && len(s) <= maxName && strings.Trim(s, nameChars) == ""
}

const (
	nameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	maxName   = 64
)
