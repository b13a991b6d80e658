package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/manners"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// Scheme is the address scheme of this backend.
const Scheme = "local"

// Lock is one lock file. It implements backend.Backend.
type Lock struct {
	address string
	path    string
	anyFS   bool
	anyDir  bool
	kept    bool // see file.kept
}

// Open returns the lock at an address of this scheme.
func Open(a backend.Address) (backend.Backend, error) {
	if err := a.CheckOptions(options); err != nil {
		return nil, err
	}
	return &Lock{address: a.String(), path: a.Path, anyFS: a.Options["fs"] == "any",
		anyDir: a.Options["dir"] == "any", kept: a.Options["empty"] == "free"}, nil
}

// Attempt implements backend.Backend.
func (l *Lock) Attempt(r backend.Request) (backend.Attempt, error) {
	if r.Owner.Mode != "exclusive" {
		return nil, &backend.Error{Code: protocol.Usage, Lock: l.address, Op: "acquire",
			Err: fmt.Errorf("a local lock file cannot be %s", r.Owner.Mode), Hint: "leave out --shared"}
	}
	return &attempt{lock: l, request: r, here: r.Owner.Place, pauses: manners.Asked(r.Polls),
		patience: owner.Patience{Clock: r.Clock, Strict: r.Strict, Respite: r.Respite},
		courtesy: owner.Patience{Clock: r.Clock}}, nil
}

// Inspect implements backend.Backend. It takes no kernel lock, which a breaker
// or creator might stumble over, but of an empty file whose kernel lock is all there is.
func (l *Lock) Inspect(context.Context) (backend.Report, error) { return l.inspect(owner.Here()) }

func (l *Lock) inspect(here owner.Place) (backend.Report, error) {
	f, err := openExisting(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return backend.Report{}, l.findDirectory() // free is only a lock that could be there
	}
	if err != nil {
		return backend.Report{}, l.openError(err)
	}
	defer f.close()
	content, err := f.read()
	if err != nil {
		return backend.Report{}, backend.FileError(l.address, "read lock file", err)
	}
	if l.kept && content.text == "" {
		switch free, err := f.tryShared(); {
		case err != nil:
			return backend.Report{}, backend.FileError(l.address, "look at the kernel lock", err)
		case free:
			return backend.Report{}, nil
		}
	}
	return backend.Report{Holders: []backend.Holder{l.holder(content, content.verdict(here))}}, nil
}

// holder describes who left the content, and what to do about him for whom waiting is
// hardly of use.
func (l *Lock) holder(c content, v owner.Verdict) backend.Holder {
	h := c.holder(v, time.Now())
	clear := "remove it with: locksmith break --force " + l.address
	switch {
	case c.note == backend.StickyNote:
		h.Advice = "let its owner break it: locksmith break " + l.address
	case c.stat.index == 0 || c.record != nil || c.pid != 0 || c.unfinished():
	case c.text != "":
		h.Advice = "find out whose it is; if nobody uses it, " + clear
	case l.kept:
		h.Note = "somebody has it locked, with flock(1) or as that does"
	default:
		h.Advice = "if nobody uses it, " + clear + "; if flock(1) does, say ?empty=free"
	}
	return h
}

// open opens what is there: for writing, too, where the file is to stay.
func (l *Lock) open() (*file, error) {
	if l.kept {
		return openKept(l.path)
	}
	return openExisting(l.path)
}

// openError explains why an existing file cannot be a lock file of ours.
func (l *Lock) openError(err error) error {
	switch {
	case errors.Is(err, syscall.ELOOP):
		return l.notALockFile("a symbolic link")
	case errors.Is(err, syscall.ENXIO):
		return l.notALockFile("a socket or device")
	}
	var kind notRegularError
	if errors.As(err, &kind) {
		return l.notALockFile(string(kind))
	}
	return backend.FileError(l.address, "open lock file", err)
}

func (l *Lock) notALockFile(what string) error {
	return &backend.Error{Code: protocol.CannotCreate, Lock: l.address, Op: "open lock file",
		Err: errors.New("the path is " + what + ", not a lock file"), Hint: "choose another name"}
}
