package backends

import (
	"cmp"
	"path"
	"path/filepath"

	"locksmith/backends/backend"
	"locksmith/backends/ftp"
)

// Key returns what is the same for all spellings of a lock's address: without its
// options, and with symbolic links on the way to it followed. It looks at the file system.
// Two users of a server stay two, for each may see a tree of its own. Of an address that
// makes no sense it returns the address.
func (all Kinds) Key(address string) string {
	a, err := backend.ParseAddress(address, all.Schemes())
	if err != nil {
		return address
	}
	k, _ := all.of(address)
	return k.Key(a)
}

// ftpKey leaves out AUTH TLS, which is an option of the same server. The user comes last,
// as sets are taken in the order of their keys: where two users share what they see, all
// have one order.
func ftpKey(a backend.Address) string {
	return "ftp://" + a.Host + a.Path + " " + cmp.Or(a.User, ftp.Anonymous)
}

func fileKey(a backend.Address) string {
	dir, base := path.Split(a.Path)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return a.Scheme + ":" + path.Join(real, base)
	}
	return a.Scheme + ":" + a.Path
}

// flockKey is that of the very file: symbolic links at its own name count for nothing, too.
func flockKey(a backend.Address) string {
	if real, err := filepath.EvalSymlinks(a.Path); err == nil {
		return a.Scheme + ":" + real
	}
	return fileKey(a)
}

// serverKey is for servers on which the user of no address is somebody whom another program
// chooses.
func serverKey(a backend.Address) string { return a.Scheme + "://" + a.Host + a.Path + " " + a.User }
