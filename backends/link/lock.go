//go:build unix

package link

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backoff"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/backends/process"
)

// Scheme is the address scheme of this backend.
const Scheme = "link"

// A Lock is one lock file. It implements backend.Backend.
type Lock struct {
	owner.Env
	// NewFS returns the directory in which the lock is, for one user of it.
	NewFS   func() FS
	Name    string       // of the lock in that directory
	Path    string       // of the lock on a file system; only List needs it
	Address backend.Name // for messages
	// Ahead sets the time of the file a lease ahead, for tools that take it for the
	// time when the lock ends.
	Ahead bool
	// OneMachine: only this machine uses the directory. Then a pid that stands alone is of this
	// machine, and a holder from before its last start is dead.
	OneMachine bool
	// Polls is how often a waiter asks.
	Polls backoff.Config
	// Each is the Each of a backoff.Crowd.
	Each time.Duration
	// Self is this process as a breaker for an operator. ID and Acquired are filled in.
	Self func() owner.Record
	// Check refuses a place that is not fit; nil: it is fit.
	Check func() error
}

// Open returns the lock at an address of this scheme.
func Open(a backend.Address) (backend.Backend, error) {
	if err := a.CheckOptions(map[string][]string{"touch": {"now", "ahead"}, "pids": {"local"}, "dir": {"any"}}); err != nil {
		return nil, err
	}
	parent, name := filepath.Split(a.Path)
	parent = filepath.Clean(parent)
	l := &Lock{
		NewFS: func() FS { return &directory{path: parent} },
		Name:  name, Path: a.Path, Address: a.Name(), Each: 2 * time.Millisecond,
		Ahead: a.Options["touch"] == "ahead", OneMachine: a.Options["pids"] == "local",
	}
	if len(name)+longestMark > maxName && !a.Place {
		return nil, l.Address.Usage("read address", fmt.Sprintf("the name is longer than %d bytes", maxName-longestMark),
			"choose a shorter one: files beside it are called after it")
	}
	l.Check = func() error {
		return lockfile.CheckDirectory(l.Address, parent, a.Options["dir"] == "any", explain)
	}
	return l.Here(), nil
}

// Here fills in what a process of this machine needs to judge others.
func (l *Lock) Here() *Lock {
	here := owner.Here()
	l.Env = owner.NewEnv()
	l.Judge = func(r owner.Record) owner.Verdict {
		if l.OneMachine {
			return r.VerdictOnDisk(here)
		}
		return r.Verdict(here)
	}
	l.Self = func() owner.Record {
		self, _ := process.Find(os.Getpid()) // without its start, a pid used again counts as ours
		return owner.Record{Place: here, Helper: self, Mode: "exclusive", Lease: UsualLease}
	}
	return l
}

var _ backend.Backend = (*Lock)(nil)
