package client

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// longestKey is how long a key in its readable form may be. Kinds add to the names of locks, and some
// file systems allow 143 bytes.
const longestKey = 64

// Key returns the address of the lock of a key, which may be any text, below a base: the address of
// a directory, or of a place on a server, in which the locks are.
//
//	client.Key("nfs:/srv/locks/customers", "alice")         // nfs:/srv/locks/customers/k-alice
//	client.Key("mkdir:/srv/locks?style=dir", "../x?y=Z")    // mkdir:/srv/locks/k-_2e_2e_2fx_3fy_3d_5a?style=dir
//
// Distinct keys have distinct locks, also where case does not count in names, and no key leads out of
// the base or adds an option. The key is a name beneath it of the characters a-z 0-9 _ -, in which _
// and two digits stand for another byte. Of a key that is too long for that, there is a hash.
func Key(base, key string) string {
	place, options, hasOptions := strings.Cut(base, "?")
	if !strings.HasSuffix(place, "://") { // else the key would become the host
		place = strings.TrimSuffix(place, "/")
	}
	if hasOptions {
		options = "?" + options
	}
	return place + "/" + keyName(key) + options
}

func keyName(key string) string {
	var name strings.Builder
	for _, c := range []byte(key) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' {
			name.WriteByte(c)
		} else {
			fmt.Fprintf(&name, "_%02x", c)
		}
	}
	if name.Len() > longestKey {
		return fmt.Sprintf("h-%x", sha256.Sum256([]byte(key)))
	}
	return "k-" + name.String()
}

// LockName returns the address of the lock that guards a file, for all who agree on a scheme
// such as "local" or "link". The lock is beside the file and hidden:
// "link:/srv/data/.phones.csv.lock" for /srv/data/phones.csv. However a process names the file,
// the address is the same: the name is made absolute, and symbolic links are resolved. The file
// need not exist, but its directory must. If there is a suffix, such as ".lck", the lock's name is the
// file's with the suffix, and not hidden, as other tools may name it.
//
// Two hard links to one file are two names, and so are the mount points of one file system:
// those who lock must agree on one. For a name that no file can have, the error wraps [ErrUsage].
func LockName(scheme, file, suffix string) (string, error) {
	fail := func(err error) (string, error) { return "", fmt.Errorf("the lock of %q: %w", file, err) }
	switch {
	case file == "":
		return fail(fmt.Errorf("%w: the name is empty", ErrUsage))
	case strings.ContainsAny(suffix, "/\x00"+string(filepath.Separator)):
		return fail(fmt.Errorf("%w: the suffix is %q", ErrUsage, suffix))
	}
	path, err := resolve(file)
	if err != nil {
		return fail(err)
	}
	dir, base := filepath.Split(path)
	if base == "" {
		return fail(fmt.Errorf("%w: the root directory has nothing beside it", ErrUsage))
	}
	if suffix == "" {
		base, suffix = "."+base, ".lock"
	}
	// As an address escapes them.
	path = strings.NewReplacer("%", "%25", "?", "%3F").Replace(filepath.Join(dir, base+suffix))
	return scheme + ":" + path, nil
}

// maxLinks bounds how many symbolic links in a row are followed that lead to nothing.
const maxLinks = 40

// resolve makes a name absolute and follows symbolic links, also to a file that does not exist
// (yet). It never cleans a name: "link/.." is not where the link is.
func resolve(path string) (string, error) {
	const slash = string(filepath.Separator)
	if !filepath.IsAbs(path) {
		here, err := os.Getwd()
		if err != nil {
			return "", err
		}
		path = here + slash + path
	}
	for range maxLinks {
		real, err := filepath.EvalSymlinks(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return real, err
		}
		dir, base := filepath.Split(strings.TrimRight(path, slash))
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			return "", err
		}
		path = filepath.Join(dir, base)
		target, err := os.Readlink(path)
		switch {
		case err != nil:
			return path, nil // nothing is there
		case !filepath.IsAbs(target):
			target = dir + slash + target
		}
		path = target
	}
	return "", fmt.Errorf("more than %d symbolic links", maxLinks)
}
