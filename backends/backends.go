// Package backends is the list of all backends. To add one, write a package
// that implements the contract in backends/backend, join it to the conformance
// suite (backends/backendtest), and add a line here.
package backends

import (
	"locksmith/backends/backend"
	"locksmith/backends/local"
	"locksmith/backends/nfs"
)

type opener struct {
	scheme string
	open   func(backend.Address) (backend.Backend, error)
}

func list() []opener {
	return []opener{
		{local.Scheme, local.Open},
		{nfs.Scheme, nfs.Open},
	}
}

// Schemes returns the schemes of all backends.
func Schemes() []string {
	var schemes []string
	for _, o := range list() {
		schemes = append(schemes, o.scheme)
	}
	return schemes
}

// Open returns the lock at an address, and the address in its canonical
// spelling. Its errors are *backend.Error.
func Open(address string) (backend.Backend, string, error) {
	a, err := backend.ParseAddress(address, Schemes())
	if err != nil {
		return nil, "", err
	}
	for _, o := range list() {
		if o.scheme == a.Scheme {
			b, err := o.open(a)
			return b, a.String(), err
		}
	}
	panic("backends: ParseAddress accepted a scheme that is not listed")
}
