package flags

import (
	"locksmith/backends"
	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/other"
	"locksmith/cmd/locksmith/profile"
	"locksmith/protocol"
)

// A Program is what locksmith is in this process.
type Program struct {
	Kinds backends.Kinds // of locks that it has
	Args  []string       // its command line, without its own name
}

// become becomes the program that has the kind of the first of these locks that this one has
// not. It returns nil if there is none such, or no program: whoever opens the lock says
// so. "locksmith-" and the scheme is what the program is called.
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
		scheme, ok := other.Scheme(found.Lock)
		if !ok {
			continue
		}
		if path := other.Find("locksmith-" + scheme); path != "" {
			return &backend.Error{Code: protocol.Internal, Lock: scheme + ":", Op: "become " + path, Err: other.Become(path, p.Args),
				Hint: "install a program there that can be run here"}
		}
	}
	return nil
}
