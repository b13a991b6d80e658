package memory

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"locksmith/backends/owner"
	"locksmith/backends/posix"
)

const (
	folder  = "locksmith"
	maxSize = 128 << 10 // more than a memory needs, in bytes
	// maxFiles is how many files a directory may hold. Above that all but the youngest keptFiles go,
	// so that few of those who write a file look at all of them.
	maxFiles  = 1000
	keptFiles = 750
)

// places are the directories that may hold our folder, best first. XDG_RUNTIME_DIR goes when the
// session ends, and everything under /run when the machine stops.
func places() []string {
	var all []string
	if os.Geteuid() == 0 {
		all = append(all, "/run")
	} else if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		all = append(all, dir)
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		all = append(all, dir)
	} else if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		all = append(all, filepath.Join(home, ".local/state"))
	}
	return all
}

// load returns the file's text from the first of the places that has the file, and its path.
func load(places []string, name string) (text, file string, err error) {
	var wrong error
	for _, place := range places {
		text, err := loadFrom(place, name)
		if err == nil {
			return text, filepath.Join(place, folder, name), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			wrong = errors.Join(wrong, err)
		}
	}
	return "", "", wrong
}

func loadFrom(place, name string) (text string, err error) {
	dir, err := openFolder(place)
	if err != nil {
		return "", err
	}
	defer unix.Close(dir)
	fd, err := open(dir, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return "", failed("open", place, name, err)
	}
	defer unix.Close(fd)
	if err := isOurs(fd, unix.S_IFREG); err != nil {
		return "", failed("look at", place, name, err)
	}
	text, err = posix.Read(fd, maxSize)
	if err != nil {
		return "", failed("read", place, name, err)
	}
	return text, nil
}

// save replaces the file in the first of the places that lets us.
func save(places []string, name, text string) error {
	err := errors.New("there is neither a home nor XDG_RUNTIME_DIR")
	for i, place := range places {
		tried := saveIn(place, name, text)
		if tried == nil {
			return nil
		}
		if i == 0 {
			err = nil
		}
		err = errors.Join(err, tried)
	}
	return err
}

func saveIn(place, name, text string) error {
	if err := os.MkdirAll(filepath.Join(place, folder), 0o700); err != nil {
		return err
	}
	dir, err := openFolder(place)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	var st unix.Stat_t
	isNew := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil
	own := name + "." + owner.NewID()
	err = write(dir, own, text)
	if err == nil {
		err = unix.Renameat(dir, own, dir, name)
	}
	if err != nil {
		_ = unix.Unlinkat(dir, own, 0)
		return failed("write", place, name, err)
	}
	if isNew {
		clean(dir)
	}
	return nil
}

func write(dir int, name, text string) error {
	fd, err := open(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(posix.Write(fd, text), unix.Close(fd))
}

func openFolder(place string) (int, error) {
	path := filepath.Join(place, folder)
	fd, err := open(unix.AT_FDCWD, path, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	if err := isOurs(fd, unix.S_IFDIR); err != nil {
		_ = unix.Close(fd)
		return -1, &fs.PathError{Op: "look at", Path: path, Err: err}
	}
	return fd, nil
}

// isOurs refuses a file or directory that is of another kind, somebody else's, or open to others.
func isOurs(fd int, kind uint32) error {
	var st unix.Stat_t
	switch err := unix.Fstat(fd, &st); {
	case err != nil:
		return err
	case st.Mode&unix.S_IFMT != kind:
		return errors.New("it is something else than locksmith makes there")
	case int(st.Uid) != os.Geteuid():
		return fmt.Errorf("it belongs to user %d", st.Uid)
	case st.Mode&0o077 != 0:
		return fmt.Errorf("others may use it (mode %04o)", st.Mode&0o777)
	}
	return nil
}

// open does not follow links.
func open(dir int, name string, flags int, mode uint32) (fd int, err error) {
	err = posix.RetryEINTR(func() (err error) {
		fd, err = unix.Openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
		return err
	})
	return fd, err
}

func failed(op, place, name string, err error) error {
	return &fs.PathError{Op: op, Path: filepath.Join(place, folder, name), Err: err}
}

// clean removes the oldest files if there are too many, also those that dead writers left.
func clean(dir int) {
	names, err := posix.ListAt(dir, ".")
	if err != nil || len(names) <= maxFiles {
		return
	}
	age := map[string]int64{}
	for _, name := range names {
		var st unix.Stat_t
		if first, _, _ := strings.Cut(name, "."); owner.IsID(first) && unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			age[name] = st.Mtim.Nano()
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(age[b], age[a]) })
	for _, name := range names[keptFiles:] {
		if age[name] != 0 {
			_ = unix.Unlinkat(dir, name, 0)
		}
	}
}
