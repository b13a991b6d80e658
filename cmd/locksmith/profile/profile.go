// Package profile knows what an address does not say: the name under which a lock and its
// settings are stored in a file, and the password of a server.
//
// A profile is a table of a file in TOML:
//
//	[phonestuff]
//	lock = "ftps://alice@ftp.example.org/locks/phonestuff"
//	timeout = "5m"
//	password_file = "~/.config/locksmith/phonestuff.password"
//
// Resolve takes a name or an address. It returns the lock's address, the settings, and what a
// server is told. No secret is read before a server asks for it.
//
// Every error has the code config, and names the file, the cause and what to do. No error shows a
// value or a line of a file, because a password may be in the wrong place. For the same reason
// the errors of the libraries are not passed on. Only a key that is there twice is named.
//
// A file must be a regular file of this user or of root. Nobody else may write to a file of
// profiles, or read a file with passwords. That is checked on the open file, so it holds for what
// is read.
package profile

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backoff"
)

// A Profile is a lock with its settings. A nil setting was not made.
type Profile struct {
	Name string // "" when the lock was given by its address
	File string // the file that has the profile
	Lock string // the address, as written

	Shared, Strict        *bool
	Timeout, Lease, Grace *time.Duration
	Refresh, MaxHold      *time.Duration
	OncePer               *time.Duration // only for run
	Poll, Slow            *backoff.Range
	Retries               *int
	Meta                  []string // "key=value"

	ca       string
	insecure bool
	ssh      string

	certificate string // its file, with the key

	// At most one of the next three is set.
	passwordFile string
	netrc        string
	passwordEnv  string

	env Env
}

// Access returns what a server is told. It looks up the password at each call.
func (p *Profile) Access() backend.Access {
	return backend.Access{Password: p.password, CA: p.ca, Insecure: p.insecure, SSH: cmp.Or(p.ssh, p.env.Getenv(sshVariable)),
		Certificate: cmp.Or(p.certificate, p.env.Getenv(certificateVariable))}
}

// sshVariable names the command that reaches servers of sftp:, if no profile names it.
const sshVariable = "LOCKSMITH_SSH"

// certificateVariable names the file with our certificate and its key, if no profile names it.
const certificateVariable = "LOCKSMITH_CERTIFICATE"

// SecretVariables are the environment variables that may hold a password.
func (p *Profile) SecretVariables() []string {
	names := []string{passwordVariable}
	if p.passwordEnv != "" {
		names = append(names, p.passwordEnv)
	}
	return names
}

// Wrong says that a value in the profile is wrong, and why.
func (p *Profile) Wrong(cause error) error {
	return fail(p.File, "use profile "+p.Name, cause, "correct it there")
}

// ownPassword reports whether the profile itself says where its password is.
func (p *Profile) ownPassword() bool {
	return p.passwordFile != "" || p.netrc != "" || p.passwordEnv != ""
}

// An Env is where profiles and passwords come from.
type Env struct {
	Files  []string            // the files with profiles; the first file that has a name counts
	Home   string              // what "~" means; "": not known
	Getenv func(string) string // looks up environment variables
}

// System returns the Env of this process.
func System() Env {
	e := Env{Getenv: os.Getenv}
	e.Home, _ = os.UserHomeDir()
	config := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) && e.Home != "" { // the XDG specification ignores relative paths
		config = filepath.Join(e.Home, ".config")
	}
	if filepath.IsAbs(config) {
		e.Files = append(e.Files, filepath.Join(config, "locksmith", "profiles.toml"))
	}
	e.Files = append(e.Files, "/etc/locksmith/profiles.toml")
	return e
}

// Resolve returns the profile with this name. If lock is an address, or can only be meant as one,
// the result is a lock without settings.
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

// isName reports whether s may name a profile. Such a name is a bare key of TOML, and neither an
// address nor a flag.
func isName(s string) bool {
	return s != "" && s[0] != '-' && len(s) <= maxName && strings.Trim(s, nameChars) == ""
}

const (
	nameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	maxName   = 64
)
