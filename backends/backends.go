// Package backends is the list of the kinds of locks. To add one, write a package
// that implements the contract in backends/backend, join it to the conformance
// suite (test/backendtest), and add a line here.
package backends

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/backends/ftp"
	"locksmith/backends/generation/symlinks"
	"locksmith/backends/link"
	"locksmith/backends/local"
	"locksmith/backends/sftp"
)

// A Kind is one kind of locks.
type Kind struct {
	backend.Scheme
	// Open returns the lock at an address of the scheme.
	Open func(backend.Address, backend.Access) (backend.Backend, error)
	// Key is what is the same for all spellings of a lock's address.
	Key    func(backend.Address) string
	Form   backend.Form // of its locks, if they are directories with other ones in them, so that list knows them; else nil
	Timing Timing       // usual for this kind; zero: as for all kinds
	// Leaseless says that the kernel frees its locks, and no lease does: options about leases and
	// proof make no sense for them.
	Leaseless bool
}

// A Timing has the times of a kind if the user says nothing.
type Timing struct {
	Lease   time.Duration // how long a silent holder is believed
	Refresh time.Duration // how long after a heartbeat the next one is due, at most
}

// has reports whether an address is of this kind.
func (k Kind) has(address string) bool { return strings.HasPrefix(address, k.Name+":") }

// Layout is the version of what a kind of locks has on disk, on its server or in its store:
// names, and how locks are taken. So far all kinds have the same. It rises for a kind when an
// older and a newer locksmith cannot share a lock of that kind any more.
const Layout = 1

// Kinds are the kinds that a program has.
type Kinds []Kind

// Usual are the kinds that every locksmith has.
func Usual() Kinds {
	return Kinds{
		files(local.Scheme, "a lock file, for the processes of one machine", local.Open),
		{Scheme: backend.Scheme{Name: flockScheme, About: "the lock of flock(1) on a file; shared"}, Open: noServer(openFlock), Key: flockKey, Leaseless: true},
		{Scheme: backend.Scheme{Name: "nfs", About: "a directory, for all hosts that mount it; shared, with a queue"}, Open: noServer(openNFS), Key: fileKey,
			Form: symlinks.Form()},
		files("mkdir", "a directory that scripts may make and remove, too", openMkdir),
		{Scheme: backend.Scheme{Name: "link", About: "a lock file made by a hard link, as dotlockfile and procmail do"}, Open: noServer(openLink), Key: fileKey,
			Timing: Timing{Lease: link.UsualLease, Refresh: link.UsualRefresh}},
		{Scheme: backend.Scheme{Name: ftp.SchemePlain, Port: ftp.Port, About: "a directory on an FTP server, in the clear"}, Open: ftp.Open, Key: ftpKey},
		{Scheme: backend.Scheme{Name: ftp.SchemeTLS, Port: ftp.Port, About: "a directory on an FTP server, with TLS"}, Open: ftp.Open, Key: ftpKey},
		{Scheme: backend.Scheme{Name: sftp.Scheme, Port: sftp.Port, About: "a directory on an SFTP server; also that of nfs: on it"}, Open: openSFTP, Key: serverKey},
	}
}

// files is a kind of locks on file systems.
func files(scheme, about string, open func(backend.Address) (backend.Backend, error)) Kind {
	return Kind{Scheme: backend.Scheme{Name: scheme, About: about}, Open: noServer(open), Key: fileKey}
}

// noServer is an opener that needs no server, and so no access to one.
func noServer(open func(backend.Address) (backend.Backend, error)) func(backend.Address, backend.Access) (backend.Backend, error) {
	return func(a backend.Address, _ backend.Access) (backend.Backend, error) { return open(a) }
}

// Schemes returns the schemes of all kinds.
func (all Kinds) Schemes() []backend.Scheme {
	var schemes []backend.Scheme
	for _, k := range all {
		schemes = append(schemes, k.Scheme)
	}
	return schemes
}

// of returns the kind of an address; not ok if there is none.
func (all Kinds) of(address string) (Kind, bool) {
	i := slices.IndexFunc(all, func(k Kind) bool { return k.has(address) })
	if i < 0 {
		return Kind{}, false
	}
	return all[i], true
}

// Has reports whether an address is of one of the kinds.
func (all Kinds) Has(address string) bool {
	_, ok := all.of(address)
	return ok
}

// Leaseless reports that no lease decides about the lock at an address.
func (all Kinds) Leaseless(address string) bool {
	k, _ := all.of(address)
	return k.Leaseless
}

// Open returns the lock at an address, and the address in its canonical
// spelling. Its errors are *backend.Error.
func (all Kinds) Open(address string, access backend.Access) (backend.Backend, string, error) {
	return all.open(address, access, backend.ParseAddress)
}

// OpenPlace is Open for a directory that locks may be in, to list or to reap them.
// backend.ParsePlace says how it may be written.
func (all Kinds) OpenPlace(address string, access backend.Access) (backend.Backend, string, error) {
	return all.open(address, access, backend.ParsePlace)
}

func (all Kinds) open(address string, access backend.Access, parse func(string, []backend.Scheme) (backend.Address, error)) (backend.Backend, string, error) {
	a, err := parse(address, all.Schemes())
	if err != nil {
		return nil, "", err
	}
	k, ok := all.of(address)
	if !ok {
		panic("backends: an address was accepted whose scheme is not listed")
	}
	b, err := k.Open(a, access)
	return b, a.String(), err
}

// Timing returns the times of the kind of lock at an address. ok is false if the kind has none of
// its own.
func (all Kinds) Timing(address string) (t Timing, ok bool) {
	k, _ := all.of(address)
	return k.Timing, k.Timing != Timing{}
}

// List tells of the locks that a backend finds at its address. Locks of other kinds are not among
// them, whatever they look like.
func (all Kinds) List(ctx context.Context, b backend.Backend, address string, l backend.Listing) error {
	for _, k := range all {
		if k.Form != nil && !k.has(address) {
			l.Others = append(l.Others, k.Form)
		}
	}
	return finder.List(ctx, b, address, l)
}

// Tree tells of the locks of all kinds on file systems that are in a directory, given by
// its absolute path, or below it.
func Tree(ctx context.Context, dir string, l backend.Listing) error {
	w := tree(ctx, dir, l)
	return w.Run(ctx)
}

// tree is a walk through a directory for the locks of all kinds on file systems.
func tree(ctx context.Context, dir string, l backend.Listing) finder.Walk {
	dir = path.Clean(dir)
	w := finder.Walk{Tree: finder.FileTree{Root: dir, Address: backend.EscapePath(dir)}, Several: true, Listing: l}
	for _, k := range Usual() {
		if k.Port != "" {
			continue
		}
		b, err := k.Open(backend.Address{Scheme: k.Name, Path: dir, Place: true}, backend.Access{})
		if place, ok := b.(finder.Place); ok && err == nil {
			if s, err := place.Search(ctx); err == nil {
				w.Kinds = append(w.Kinds, s.Kind)
			}
		}
	}
	return w
}
