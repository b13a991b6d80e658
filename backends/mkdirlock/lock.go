package mkdirlock

import (
	"errors"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// A Lock is one lock. It implements backend.Backend.
type Lock struct {
	owner.Env
	// NewDir returns the directory in which the lock is, for one user of it.
	NewDir func() dirs.Dir
	Name   string // of the lock in that directory
	Style  Style
	// Tokens asks for fencing tokens in DirStyle; they cost some calls.
	Tokens  bool
	Address backend.Name // for messages
	Pace    Pace
	// Depth is how many levels deep List looks if it is not told; 0: all.
	Depth int
}

// A Style is what the directories mean.
type Style int

// The styles; see the package comment.
const (
	PlainStyle Style = iota // "plain": the directory itself is the lock
	DirStyle                // "dir": the lock is a directory in it
)

// ParseStyle reads the option style of an address; "" is the plain one.
func ParseStyle(s string) Style {
	if s == "dir" {
		return DirStyle
	}
	return PlainStyle
}

// CheckOptions refuses an address with options that its lock does not know, or that do not
// go together.
func CheckOptions(a backend.Address) error {
	if err := a.CheckOptions(map[string][]string{"style": {"plain", "dir"}, "tokens": {"yes", "no"}}); err != nil {
		return err
	}
	if _, given := a.Options["tokens"]; given && ParseStyle(a.Options["style"]) != DirStyle {
		return &backend.Error{Code: protocol.Usage, Lock: a.String(), Op: "read address",
			Err:  errors.New("option tokens is without ?style=dir, and no other style has fencing tokens"),
			Hint: "leave it out, or add ?style=dir, for all who use the lock"}
	}
	return nil
}

// A Pace is how often a waiter asks. The longer nothing has happened, the longer is the pause
// between two tries.
type Pace struct {
	Min, Max time.Duration
	// Less is by how much a pause may be shorter, at random, so that waiters that came together do
	// not keep asking together.
	Less time.Duration
	// Look is the pause between two looks at who holds the lock; 0: half a lease.
	Look time.Duration
	// Each is the Each of the backoff.Crowd. Crowd replaces Max where many wait, before the pause is
	// spread; 0: Max stays.
	Each, Crowd time.Duration
}

// Here fills in what a process of this machine needs to judge others.
func (l *Lock) Here() *Lock {
	l.Env = owner.NewEnv()
	return l
}

var _ backend.Backend = (*Lock)(nil)
