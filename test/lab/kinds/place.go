//go:build unix

package kinds

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A Lock is a lock of a kind, in a place of its own.
type Lock struct {
	Kind
	Address string
	Place   string // the address of its place, for list and reap
	Dir     string // the place's directory on this disk; "": a store has it
	Path    string // what the address names, there
	prefix  string // the same at the store
}

var places atomic.Int64

// Lock makes a place with a lock that nobody has used.
func (k Kind) Lock(t testing.TB) *Lock {
	t.Helper()
	name := fmt.Sprintf("p%d", places.Add(1))
	l := &Lock{Kind: k, Address: k.address(name + "/l"), Place: k.address(name), prefix: name + "/l"}
	l.Place, _, _ = strings.Cut(l.Place, "?style=dir")
	if k.root == "" {
		return l
	}
	l.Dir = filepath.Join(k.root, name)
	l.Path = filepath.Join(l.Dir, "l")
	must(t, os.Mkdir(l.Dir, 0o755))
	l.own(t, l.Dir)
	return l
}

// Beside is another lock in the same place.
func (l *Lock) Beside(name string) string {
	return strings.Replace(l.Address, l.prefix, l.prefix+name, 1)
}

// own gives what was made below the place to the user of its server.
func (l *Lock) own(t testing.TB, path string) {
	t.Helper()
	if l.uid != 0 {
		must(t, os.Lchown(path, l.uid, l.uid))
	}
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// Remove removes what the address names, and all below it, as rm -r does.
func (l *Lock) Remove(t testing.TB) {
	t.Helper()
	if l.store == nil {
		removeAll(t, l.Path)
		return
	}
	for _, key := range l.store.Keys(t, l.prefix+"/") {
		l.store.Remove(t, l.prefix+"/"+key)
	}
}

// removeAll removes a tree to which a holder may add something meanwhile.
func removeAll(t testing.TB, path string) {
	t.Helper()
	var err error
	for range 100 {
		if err = os.RemoveAll(path); err == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal(err)
}

// RemovePlace removes the place, with the lock in it.
func (l *Lock) RemovePlace(t testing.TB) {
	t.Helper()
	removeAll(t, l.Dir)
}

// Things lists what is in the place, or at a store below the lock, with directories first.
func (l *Lock) Things(t testing.TB) (all []string) {
	t.Helper()
	if l.store != nil {
		return l.store.Keys(t, l.prefix+"/")
	}
	_ = filepath.WalkDir(l.Dir, func(name string, _ fs.DirEntry, err error) error {
		if err == nil && name != l.Dir {
			all = append(all, strings.TrimPrefix(name, l.Dir+"/"))
		}
		return nil // what goes away meanwhile does not count
	})
	return all
}

// Age makes all in the place older.
func (l *Lock) Age(t testing.TB, by time.Duration) {
	t.Helper()
	then := time.Now().Add(-by)
	for _, name := range l.Things(t) {
		both := []unix.Timespec{unix.NsecToTimespec(then.UnixNano()), unix.NsecToTimespec(then.UnixNano())}
		err := unix.UtimesNanoAt(unix.AT_FDCWD, filepath.Join(l.Dir, name), both, unix.AT_SYMLINK_NOFOLLOW)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // what went away meanwhile does not count
			t.Fatal(err)
		}
	}
}

// Empty puts what says nothing of its maker where the lock is, as somebody leaves it who died
// before saying so, or who has another program.
func (l *Lock) Empty(t testing.TB) {
	t.Helper()
	switch {
	case l.scheme == "etcd":
		l.store.Put(t, l.prefix+"/x.00000000000000000000000000000001", "")
	case l.store != nil:
		l.store.Put(t, l.prefix+"/g.1", "")
	case l.Files || l.Kernel || l.scheme == "table":
		must(t, os.WriteFile(l.Path, nil, 0o644))
		l.own(t, l.Path)
	case l.scheme == "mkdir" && !l.Plain, l.scheme == "ftp" && !l.Plain:
		must(t, os.MkdirAll(filepath.Join(l.Path, "lock"), 0o777))
	default:
		must(t, os.Mkdir(l.Path, 0o777))
		l.own(t, l.Path)
	}
}
