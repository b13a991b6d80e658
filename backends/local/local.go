package local

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/flocks"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/backends/shelf"
	"locksmith/backends/watch"
)

// Scheme is the address scheme of this backend.
const Scheme = "local"

// Lock is one lock file. It implements backend.Backend.
type Lock struct {
	address backend.Name
	path    string
	anyFS   bool
	anyDir  bool
	binary  bool // the pid is in binary, for programs that read it so
	queue   *queue
	flocks  func(path string) (flocks.Seen, error) // finds out who has kernel locks
	// The surroundings of attempts. nil: this machine.
	on  func() System
	env *owner.Env
}

// On returns a lock on a system that a test makes up, instead of this machine.
func On(address backend.Name, system func() System, env owner.Env) *Lock {
	nobody := func(string) (flocks.Seen, error) { return flocks.Seen{}, nil }
	return &Lock{address: address, anyDir: true, queue: new(queue), on: system, env: &env, flocks: nobody}
}

// Open returns the lock at an address of this scheme.
func Open(a backend.Address) (backend.Backend, error) {
	if err := a.CheckOptions(options); err != nil {
		return nil, err
	}
	return &Lock{address: a.Name(), path: a.Path, anyFS: a.Options["fs"] == "any",
		anyDir: a.Options["dir"] == "any", binary: a.Options["pid"] == "binary", queue: new(queue),
		flocks: flocks.Glance}, nil
}

// Attempt implements backend.Backend.
func (l *Lock) Attempt(r backend.Request) (backend.Attempt, error) {
	r, err := r.Checked(l.address, "a local lock file", "exclusive")
	if err != nil {
		return nil, err
	}
	lockfile.Prepare()
	system, env := l.surroundings(r)
	return &attempt{lock: l, request: r, env: env, system: system, pauses: r.Polls.Schedule(), others: watch.New(r),
		checked: l.on != nil, bell: make(chan struct{}, 1)}, nil
}

// surroundings returns the system and environment on which an attempt runs.
func (l *Lock) surroundings(r backend.Request) (System, owner.Env) {
	if l.on != nil {
		return l.on(), *l.env
	}
	here := r.Owner.Place
	return &machine{lock: l, clock: r.Clock}, owner.Env{NewID: owner.NewID, Today: time.Now,
		Judge:   func(r owner.Record) owner.Verdict { return r.VerdictOnDisk(here) },
		ToWatch: func(r owner.Record) (process.Process, bool) { return r.Lives(here) }}
}

// OnShelf implements shelf.Keeper.
func (l *Lock) OnShelf(_ context.Context, held backend.Hold, use func(shelf.Shelf) error) error {
	s := lockfile.Shelf{Path: l.path, Fail: l.fail}
	if h, ok := held.(*hold); ok {
		s.Clock = h.now
	}
	return use(s)
}

var _ shelf.Keeper = (*Lock)(nil)

// crowd adds to a report how many wait, as far as /proc shows it: those who watch the lock, and
// those who sleep in the kernel's queue for its file. Some may sleep in the queue for an earlier
// file.
func (l *Lock) crowd(r backend.Report) backend.Report {
	seen, _ := l.flocks(l.path)
	r.Crowd, r.AtLeast = true, seen.Waiting()
	return r
}

// Read implements backend.Backend. It takes no kernel lock, because a breaker or a maker might
// stumble over that. It reads /proc once, for both who has the kernel lock and who waits.
func (l *Lock) Read(context.Context) (backend.Report, error) {
	seen := sync.OnceValues(func() (flocks.Seen, error) { return l.flocks(l.path) })
	once := *l
	once.flocks = func(string) (flocks.Seen, error) { return seen() }
	return once.report()
}

func (l *Lock) report() (backend.Report, error) {
	f, err := open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return backend.Report{Crowd: true}, l.findDirectory() // a lock is free only if it could be there
	}
	if err != nil {
		return backend.Report{}, l.openError(err)
	}
	defer f.Close()
	c, err := l.read(f)
	if err != nil {
		return backend.Report{}, l.fail("read lock file", err)
	}
	return l.crowd(backend.Report{Holders: []backend.Holder{l.holder(c, c.verdict(owner.Here()), l.isLocked)}}), nil
}

// holder describes who left the content, with advice where waiting for that holder is hardly of
// use. locked reports whether somebody has the kernel lock. It is asked only where that matters.
func (l *Lock) holder(c content, v owner.Verdict, locked func() bool) backend.Holder {
	now := time.Now()
	h := c.seen(v).HolderThere(now, now) // the disk has this machine's clock
	h.Outlasts = v == owner.Alive
	remove := "remove it with: locksmith break --force " + backend.ShellWord(string(l.address))
	switch {
	case c.note == backend.StickyNote:
		h = h.Sticky(l.address)
	case c.stat.Ino == 0:
		h.Advice, h.Blocked = "see as root whose it is: locksmith status "+backend.ShellWord(string(l.address)), !locked()
	case c.Binary && !l.binary:
		h.Note, h.Advice = lockfile.NoBinary, binaryHint(l.path)
	case c.Record != nil || c.PID != 0 || c.unfinished() || c.strange():
	case c.ofKernel():
		h.Advice, h.Blocked = "write "+kernelKind(l.path), true
	case c.Text != "":
		if len(c.Text) <= lockfile.MaxText {
			h.Note = lockfile.Foreign(c.Text)
		}
		h.Advice, h.Blocked = "find out whose it is; if nobody uses it, "+remove, !locked()
	default:
		h.Advice = "if nobody uses it, " + remove + "; if flock(1) does, write " + kernelKind(l.path)
		h.Blocked = !locked()
	}
	return h
}

// kernelKind is the address of the lock that flock(1) has on a file.
func kernelKind(path string) string { return backend.ShellWord("flock:" + backend.EscapePath(path)) }

// binaryHint says which address a program that keeps its pid in binary can share.
func binaryHint(path string) string {
	return "let all of us write " + backend.ShellWord("local:"+backend.EscapePath(path)+"?pid=binary")
}

// format is the text of a lock file.
func (l *Lock) format(r owner.Record) (string, error) {
	if l.binary {
		return lockfile.FormatBinary(r)
	}
	return lockfile.Format(r)
}

// isLocked reports whether somebody has the kernel lock, as /proc shows it, without asking for
// the lock. It is also true if that cannot be told. It takes some milliseconds.
func (l *Lock) isLocked() bool {
	seen, err := l.flocks(l.path)
	return err != nil || seen.Held() || seen.Alike > 0 || seen.Hidden
}

// findDirectory returns an error if the directory of the lock does not exist.
func (l *Lock) findDirectory() error {
	_, err := lockfile.FindDirectory(l.address, l.directory(), nil)
	return err
}

func (l *Lock) directory() string { return filepath.Dir(systemPath(l.path)) }

func (l *Lock) fail(op string, err error) error { return l.address.Fail(op, err, nil) }

// openError explains why an existing file cannot be a lock file of ours.
func (l *Lock) openError(err error) error {
	const op = "open lock file"
	var kind notRegularError
	switch {
	case errors.Is(err, syscall.ELOOP):
		kind = "a symbolic link"
	case errors.Is(err, syscall.ENXIO):
		kind = "a socket or device"
	case !errors.As(err, &kind):
		return l.fail(op, err)
	}
	return l.address.Unfit(op, "the path is "+string(kind)+", not a lock file", "choose another name")
}
