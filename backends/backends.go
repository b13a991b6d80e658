// Package backends is the list of all backends. To add one, write a package
// that implements the contract in backends/backend, join it to the conformance
// suite (backends/backendtest), and add a line here.
package backends

import (
	"context"
	"path"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/backends/ftp"
	"locksmith/backends/link"
	"locksmith/backends/local"
	"locksmith/backends/nfs/generation"
)

type opener struct {
	scheme backend.Scheme
	open   func(backend.Address, backend.Access) (backend.Backend, error)
	form   backend.Form // of its locks, where other kinds must know it; else nil
	timing Timing       // usual among those who use it; zero: what is so everywhere
}

// A Timing is how long things take where the user says nothing.
type Timing struct {
	Lease   time.Duration // how long a silent holder is believed
	Refresh time.Duration // how long after a heartbeat the next one is due, at most
}

// opens reports whether an address is of this scheme.
func (o opener) opens(address string) bool { return strings.HasPrefix(address, o.scheme.Name+":") }

func list() []opener {
	return []opener{
		{scheme: backend.Scheme{Name: local.Scheme, About: "a lock file, for the processes of one machine"}, open: files(local.Open)},
		{scheme: backend.Scheme{Name: "nfs", About: "a directory, for all hosts that mount it; shared, with a queue"}, open: files(openNFS),
			form: backend.Form{generation.Generations, generation.Reservations}},
		{scheme: backend.Scheme{Name: "mkdir", About: "a directory that scripts may make and remove, too"}, open: files(openMkdir)},
		{scheme: backend.Scheme{Name: "link", About: "a lock file made by a hard link, as dotlockfile and procmail do"}, open: files(openLink),
			timing: Timing{Lease: link.UsualLease, Refresh: link.UsualRefresh}},
		{scheme: backend.Scheme{Name: ftp.SchemePlain, Port: ftp.Port, About: "a directory on an FTP server, in the clear"}, open: ftp.Open},
		{scheme: backend.Scheme{Name: ftp.SchemeTLS, Port: ftp.Port, About: "a directory on an FTP server, with TLS"}, open: ftp.Open},
	}
}

// files is an opener that needs no server, and so no access to one.
func files(open func(backend.Address) (backend.Backend, error)) func(backend.Address, backend.Access) (backend.Backend, error) {
	return func(a backend.Address, _ backend.Access) (backend.Backend, error) { return open(a) }
}

// Schemes returns the schemes of all backends.
func Schemes() []backend.Scheme {
	var schemes []backend.Scheme
	for _, o := range list() {
		schemes = append(schemes, o.scheme)
	}
	return schemes
}

// Open returns the lock at an address, and the address in its canonical
// spelling. Its errors are *backend.Error.
func Open(address string, access backend.Access) (backend.Backend, string, error) {
	return open(address, access, backend.ParseAddress)
}

// OpenPlace is Open for a directory that locks may be in, to list or to reap them:
// backend.ParsePlace says how it may be written.
func OpenPlace(address string, access backend.Access) (backend.Backend, string, error) {
	return open(address, access, backend.ParsePlace)
}

func open(address string, access backend.Access, parse func(string, []backend.Scheme) (backend.Address, error)) (backend.Backend, string, error) {
	a, err := parse(address, Schemes())
	if err != nil {
		return nil, "", err
	}
	for _, o := range list() {
		if o.opens(address) {
			b, err := o.open(a, access)
			return b, a.String(), err
		}
	}
	panic("backends: an address was accepted whose scheme is not listed")
}

// Usual is the Timing of the kind of lock at an address; not ok if it has none of its own.
func Usual(address string) (t Timing, ok bool) {
	for _, o := range list() {
		if o.opens(address) {
			t = o.timing
		}
	}
	return t, t != Timing{}
}

// List tells of the locks that a backend finds at its address; the other kinds' are none
// of its own, whatever they look like.
func List(ctx context.Context, b backend.Backend, address string, l backend.Listing) error {
	for _, o := range list() {
		if o.form != nil && !o.opens(address) {
			l.Others = append(l.Others, o.form)
		}
	}
	return b.List(ctx, l)
}

// Tree tells of the locks of all kinds on file systems that are in a directory, given by
// its absolute path, or below it.
func Tree(ctx context.Context, dir string, l backend.Listing) error {
	dir = strings.TrimRight(path.Clean(dir), "/")
	w := finder.Walk{Tree: finder.FileTree{Root: dir, Address: backend.EscapePath(dir)}, Listing: l}
	w.Files, w.Directories = treeKinds(dir)
	return w.Run(ctx)
}
