package request

import (
	"errors"
	"slices"
	"strings"

	"locksmith/backends"
	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/programs"
	"locksmith/cmd/locksmith/profile"
	"locksmith/protocol"
)

// A Program is what locksmith is in this process.
type Program struct {
	Kinds backends.Kinds // of locks
	Args  []string       // its command line, without its own name
}

// become becomes the program that has a kind of lock which this one lacks, for the first such
// lock: backends.RemoteProgram, or "locksmith-" and the scheme. It returns nil if there is no
// such lock, or no program for a scheme that nobody knows: the error comes when the lock is
// opened.
func (p Program) become(locks []string) error {
	for _, lock := range locks {
		_, lock = cutMode(lock)
		if p.Kinds.Has(lock) {
			continue
		}
		found, err := profile.System().Resolve(lock)
		if err != nil || p.Kinds.Has(found.Lock) {
			continue
		}
		scheme, ok := schemeOf(found.Lock)
		if !ok {
			continue
		}
		name := "locksmith-" + scheme
		remote := slices.ContainsFunc(backends.Remote(), func(s backend.Scheme) bool { return s.Name == scheme })
		if remote {
			name = backends.RemoteProgram
		}
		path := programs.Find(name)
		switch {
		case path != "":
			return &backend.Error{Code: protocol.Internal, Lock: scheme + ":", Op: "become " + path, Err: programs.Become(path, p.Args),
				Hint: "install a program there that can be run here"}
		case remote:
			a, err := backend.ParseAddress(found.Lock, backends.Remote())
			if err != nil {
				return err
			}
			return &backend.Error{Code: protocol.Unreachable, Lock: a.String(), Op: "find " + name, Err: errors.New("it is neither beside this program nor on PATH"),
				Hint: "install it, too: it is built from the same source, and in the same package"}
		}
	}
	return nil
}

// schemes returns the schemes that the program has, and those for which it becomes another
// program.
func (p Program) schemes() []backend.Scheme {
	all := p.Kinds.Schemes()
	for _, s := range backends.Remote() {
		if !p.Kinds.Has(s.Name + ":") {
			all = append(all, s)
		}
	}
	return all
}

// schemeOf returns the scheme of an address, if there can be a program for it: "s3" of
// "s3://bucket/lock". It is a lower-case letter, and then letters, digits, "+", "." or "-".
func schemeOf(address string) (scheme string, ok bool) {
	scheme, _, ok = strings.Cut(address, ":")
	const letters, more = "abcdefghijklmnopqrstuvwxyz", "0123456789+.-"
	return scheme, ok && scheme != "" && len(scheme) <= 32 &&
		strings.Contains(letters, scheme[:1]) && strings.Trim(scheme, letters+more) == ""
}
