package mkdirlock

import (
	"maps"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/owner"
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
	clock *placeClock // nil: it is asked each time
}

// A Style is what the directories mean.
type Style int

// The styles; see the package comment.
const (
	PlainStyle Style = iota // "plain": the directory itself is the lock
	DirStyle                // "dir": the lock is a directory in it
)

// New returns the lock at an address, for this process. Its place adds NewDir, Name and Pace. On a
// server List looks one level deep, because each directory costs requests. further are the options
// that its place has, with their values.
func New(a backend.Address, further map[string][]string) (*Lock, error) {
	known := map[string][]string{"style": {"plain", "dir"}, "tokens": {"yes", "no"}}
	maps.Copy(known, further)
	if err := a.CheckOptions(known); err != nil {
		return nil, err
	}
	l := &Lock{Tokens: a.Options["tokens"] != "no", Address: a.Name(), clock: &placeClock{}}
	if a.Options["style"] == "dir" {
		l.Style = DirStyle
	}
	if _, given := a.Options["tokens"]; given && l.Style != DirStyle {
		return nil, l.Address.Usage("read address", "option tokens is without ?style=dir, and no other style has fencing tokens",
			"leave it out, or add ?style=dir, for all who use the lock")
	}
	if a.Host != "" {
		l.Depth = 1
	}
	return l.Here(), nil
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
