package backends

import (
	"cmp"
	"path"
	"path/filepath"

	"locksmith/backends/backend"
	"locksmith/backends/ftp"
)

// Key returns what is the same for all spellings of a lock's address: it drops the options, and
// follows symbolic links on the way to the lock. It looks at the file system. Addresses with two
// users of one server have two keys, because each user may see its own tree. The key of an
// address that makes no sense is the address.
func (all Kinds) Key(address string) string {
	a, err := backend.ParseAddress(address, all.Schemes())
	if err != nil {
		return address
	}
	k, _ := all.of(address)
	return k.Key(a)
}

// ftpKey leaves out TLS, which is an option of the same server. The user comes last, because
// sets are taken in the order of their keys: if two users see the same locks, all have one order.
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

// flockKey is the key of the very file: it follows symbolic links at the file's own name, too.
func flockKey(a backend.Address) string {
	if real, err := filepath.EvalSymlinks(a.Path); err == nil {
		return a.Scheme + ":" + real
	}
	return fileKey(a)
}

// serverKey is for servers where, if an address names no user, another program chooses the user.
func serverKey(a backend.Address) string { return a.Scheme + "://" + a.Host + a.Path + " " + a.User }
