//go:build unix

package mkdirlock

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/doctor"
	"locksmith/backends/finder"
	"locksmith/backends/posix"
	"locksmith/backends/process"
)

// Scheme is the address scheme of locks on file systems.
const Scheme = "mkdir"

// Open returns the lock at an address of this scheme.
func Open(a backend.Address) (backend.Backend, error) {
	if err := CheckOptions(a); err != nil {
		return nil, err
	}
	parent, name := filepath.Split(a.Path)
	parent = filepath.Clean(parent)
	private := sync.OnceValue(func() bool { return isPrivate(parent) }) // over NFS that is a request
	l := Lock{
		NewDir: func() Dir { return &directory{path: parent, private: private} },
		Name:   name, Style: ParseStyle(a.Options["style"]), Tokens: a.Options["tokens"] != "no",
		Address: a.String(),
		Pace: Pace{Min: time.Millisecond, Max: 250 * time.Millisecond, Look: time.Second,
			Each: 2 * time.Millisecond, Crowd: 64 * time.Millisecond},
	}
	return l.Here().Backend(), nil
}

// Kind knows the locks below a directory that are directories of ours.
func Kind(dir string) finder.DirectoryKind {
	l := Lock{Name: strings.TrimPrefix(dir, "/"), Tokens: true, Address: backend.Address{Scheme: Scheme, Path: dir}.String()}
	return listKind{place: l.Here(), dir: &directory{path: "/", private: func() bool { return false }}}
}

// A directory is a Dir on a file system.
type directory struct {
	path     string
	private  func() bool // path is on a disk of this machine; only asked for by a Disk
	notifier posix.Notifier
}

func (d *directory) at(name string) string { return filepath.Join(d.path, name) }

// Mkdir implements Dir. All users of the directory in which the lock is may use what we
// make in it: break us when we are dead, and share the lock with us.
func (d *directory) Mkdir(_ context.Context, name string) error {
	return Outcome(posix.OpenParent(d.path, name, func(fd int, base string) error {
		if err := unix.Mkdirat(fd, base, 0o777); err != nil {
			return err
		}
		_ = posix.ShareNew(fd, base, d.path, isOurs) // a lock that only we can use is one still
		return nil
	}))
}

// Rmdir implements Dir.
func (d *directory) Rmdir(_ context.Context, name string) error {
	return Outcome(posix.OpenParent(d.path, name, func(fd int, base string) error {
		return unix.Unlinkat(fd, base, unix.AT_REMOVEDIR)
	}))
}

// Rename implements Dir.
func (d *directory) Rename(_ context.Context, from, to string) error {
	return Outcome(posix.OpenParent(d.path, from, func(source int, old string) error {
		return posix.OpenParent(d.path, to, func(target int, name string) error { return unix.Renameat(source, old, target, name) })
	}))
}

// List implements Dir.
func (d *directory) List(_ context.Context, name string) ([]string, error) {
	path := d.at(name)
	if name == "." {
		path = posix.FollowDir(path)
	}
	// To read where a link leads does no harm, and PLACE of list may be one.
	names, err := posix.List(path)
	if errors.Is(err, unix.ENOTDIR) && !isOther(path) {
		return nil, outcome{ErrRefused, err} // an SMB client says so of one that is being removed
	}
	return names, Outcome(err)
}

// Read implements reader.
func (d *directory) Read(name string) (io.Closer, error) {
	f, err := os.Open(d.at(name))
	if err == nil {
		_, _ = f.Readdirnames(1) // there is none
	}
	return f, err
}

// isOther reports that a path is there, and not a directory.
func isOther(path string) bool {
	var st unix.Stat_t
	err := unix.Lstat(path, &st)
	return err == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR || errors.Is(err, unix.ENOTDIR)
}

// Entries implements StatDir.
func (d *directory) Entries(ctx context.Context, name string) ([]Entry, error) {
	names, err := d.List(ctx, name)
	var all []Entry
	for _, n := range names {
		st, err := os.Lstat(d.at(name + "/" + n))
		if err != nil {
			continue // it has just gone
		}
		all = append(all, Entry{Name: n, Dir: st.IsDir(), Modified: st.ModTime(), Precise: true})
	}
	return all, err
}

// Root implements rooted.
func (d *directory) Root(name string) string { return d.at(name) }

// Await implements Dir.
func (d *directory) Await(ctx context.Context, name string, watched process.Process, pause time.Duration) {
	if name != "" {
		name = d.at(name)
	}
	d.notifier.Await(ctx, name, watched, pause)
}

// mayRemove looks for the sticky bit of the directory that a name is in (inode(7)):
// what is in it is removed or renamed by its owner, the directory's, or root.
func (d *directory) mayRemove(name string) bool {
	var around, it unix.Stat_t
	if unix.Stat(filepath.Dir(d.at(name)), &around) != nil || unix.Lstat(d.at(name), &it) != nil {
		return true // the attempt will tell
	}
	me := uint32(os.Geteuid())
	return uint32(around.Mode)&unix.S_ISVTX == 0 || me == 0 || me == around.Uid || me == it.Uid
}

// Examine implements Examiner.
func (d *directory) Examine(_ context.Context, name string, _ backend.Examination, tell backend.Tell) (rest func() error, err error) {
	doctor.DirNeeds{Removal: true}.Examine(d.at(name), tell)
	return nil, nil
}

var (
	_ StatDir  = (*directory)(nil)
	_ guarded  = (*directory)(nil)
	_ rooted   = (*directory)(nil)
	_ Examiner = (*directory)(nil)
)

// Close implements Dir.
func (d *directory) Close() { d.notifier.Close() }
