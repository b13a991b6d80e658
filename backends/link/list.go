//go:build unix

package link

import (
	"context"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
)

// Search implements finder.Place.
func (l *Lock) Search(context.Context) (finder.Search, error) {
	look := func(_ context.Context, f finder.Found) (backend.Report, error) {
		at := *l
		at.Name, at.Address = f.Name(), f.Address
		fs := &directory{path: l.Path + f.In.Path}
		defer fs.Close()
		return at.inspect(fs, claimsOf(f.In, at.Name))
	}
	return finder.Search{Tree: finder.FileTree{Root: l.Path, Address: string(l.Address)},
		Kind: finder.Kind{Place: l.Address, File: recognise, Look: look}}, nil
}

// recognise says what a file is. Files of other tools, with a pid alone, may be locks, too. A lock that
// is free but waited for is told at its first claim.
func recognise(in *finder.Directory, name string, content func() finder.Content) *finder.Found {
	if isEntryName(name) {
		return &finder.Found{Part: true}
	}
	if lock, ok := lockOfClaim(name); ok {
		f := in.Lock(lock)
		_, there := in.Type(lock)
		f.Part = there || claimsOf(in, lock)[0] != name
		return f
	}
	f := in.Lock(name)
	if len(claimsOf(in, name)) > 0 {
		return f
	}
	seen := content()
	c := parse(seen.Text)
	if seen.Err != nil || seen.Marked {
		return nil
	}
	f.Bare, f.IfMet = c.Record == nil, c.Record == nil && c.PID == 0
	return f
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
