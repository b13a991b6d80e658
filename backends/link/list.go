//go:build unix

package link

import (
	"context"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
)

// List implements backend.Backend. Files of other tools with a pid alone are locks to it, too.
func (l *Lock) List(ctx context.Context, listing backend.Listing) error {
	w := finder.Walk{
		Tree:    finder.FileTree{Root: l.Path, Address: string(l.Address)},
		Files:   []finder.FileKind{kind{l, true}},
		Listing: listing,
	}
	return w.Run(ctx)
}

// Kind knows the locks below a directory that hold a record of ours, or for which one of ours
// waits.
func Kind(dir string) finder.FileKind {
	place := Lock{Path: dir, Address: backend.Address{Scheme: Scheme, Path: dir}.Name()}
	return kind{place.Here(), false}
}

type kind struct {
	place *Lock // as if the directory were one
	pids  bool  // a file with a pid alone is a lock, too
}

// File implements finder.FileKind. A lock that is free but waited for is told at its first
// claim.
func (k kind) File(_ context.Context, in *finder.Directory, name string, content func() finder.Content) finder.Answer {
	if isEntryName(name) {
		return finder.Answer{Mine: true}
	}
	if lock, ok := lockOfClaim(name); ok {
		_, there := in.Type(lock)
		if claims := claimsOf(in, lock); there || claims[0] != name {
			return finder.Answer{Mine: true}
		}
		return k.look(in, lock)
	}
	claimed := len(claimsOf(in, name)) > 0
	switch {
	case !claimed && !k.ours(content()):
		return finder.Answer{}
	case !claimed && in.Full() && parse(content().Text).Record == nil:
		return finder.Answer{LeftOut: true, Mine: true}
	}
	return k.look(in, name)
}

func (k kind) ours(seen finder.Content) bool {
	if seen.Err != nil || seen.Marked {
		return false
	}
	c := parse(seen.Text)
	return c.Record != nil || c.PID != 0 && k.pids
}

func (k kind) look(in *finder.Directory, name string) finder.Answer {
	l := *k.place
	l.Name, l.Address = name, l.Address.Below(in.Path+"/"+name)
	fs := &directory{path: l.Path + in.Path}
	defer fs.Close()
	r, err := l.inspect(fs, claimsOf(in, name))
	if err == nil && len(r.Holders) == 0 && len(r.Waiters) == 0 {
		return finder.Answer{Mine: true} // it has just gone
	}
	return finder.Answer{Lock: &backend.Listed{Lock: string(l.Address), Report: r, Err: err}, Mine: true}
}

// claimsOf returns the names of the claims of a lock.
func claimsOf(in *finder.Directory, lock string) []string {
	var claims []string
	for _, e := range in.Beginning(lock + claimMark) {
		if of, ok := lockOfClaim(e.Name); ok && of == lock && e.Type == finder.RegularFile {
			claims = append(claims, e.Name)
		}
	}
	return claims
}

// lockOfClaim returns the lock of a claim.
func lockOfClaim(name string) (lock string, ok bool) {
	i := strings.LastIndex(name, claimMark)
	if i < 1 {
		return "", false
	}
	_, ok = (&Lock{Name: name[:i]}).parseClaim(name)
	return name[:i], ok
}

// isEntryName reports whether a file is the entry of a breaker.
func isEntryName(name string) bool {
	i := strings.LastIndex(name, entryMark)
	if i < 1 {
		return false
	}
	_, _, ok := (&Lock{Name: name[:i]}).parseEntry(name)
	return ok
}
