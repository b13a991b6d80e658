package client

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// LockName returns the address of the lock that guards a file, for all who agree on a scheme
// such as "local" or "link". The lock is beside the file and hidden:
// "link:/srv/data/.phones.csv.lock" for /srv/data/phones.csv. However a process names the file,
// the address is the same: the name is made absolute, and symbolic links are resolved. The file
// need not exist, but its directory must.
//
// Two hard links to one file are two names, and so are the mount points of one file system:
// those who lock must agree on one. For a name that no file can have, the error wraps ErrNoName.
func LockName(scheme, file string) (string, error) {
	return lockName(scheme, file, func(base string) string { return "." + base + ".lock" })
}

// LockNameWith is LockName with a suffix, such as ".lck", for those whose lock file other tools
// name, too. The lock's name is the file's with the suffix, and it is not hidden.
func LockNameWith(scheme, file, suffix string) (string, error) {
	if suffix == "" || strings.ContainsAny(suffix, "/\x00"+string(filepath.Separator)) {
		return "", fmt.Errorf("the lock of %q: %w: the suffix is %q", file, ErrNoName, suffix)
	}
	return lockName(scheme, file, func(base string) string { return base + suffix })
}

func lockName(scheme, file string, name func(base string) string) (string, error) {
	fail := func(err error) (string, error) { return "", fmt.Errorf("the lock of %q: %w", file, err) }
	if file == "" {
		return fail(fmt.Errorf("%w: the name is empty", ErrNoName))
	}
	path, err := resolve(file)
	if err != nil {
		return fail(err)
	}
	dir, base := filepath.Split(path)
	if base == "" {
		return fail(fmt.Errorf("%w: the root directory has nothing beside it", ErrNoName))
	}
	// As an address escapes them.
	path = strings.NewReplacer("%", "%25", "?", "%3F").Replace(filepath.Join(dir, name(base)))
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
