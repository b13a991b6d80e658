package main

import (
	"context"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock"
	"locksmith/backends/process"
	"locksmith/test/explorer/explore"
)

// lockName is the lock of directories.
const lockName = "L"

// plain is the code of mkdir:, ftp: and ftps:, in plain style.
func plain(e explore.Env) explore.Lock {
	return directories(e, e.Calls, mkdirlock.PlainStyle, false)
}

// disk is the same where gate and commit may be one step.
func disk(e explore.Env) explore.Lock { return directories(e, e.Disk, mkdirlock.PlainStyle, false) }

// tree is the same in the style of directories, with tokens.
func tree(e explore.Env) explore.Lock { return directories(e, e.Calls, mkdirlock.TreeStyle, true) }

// bare has no tokens.
func bare(e explore.Env) explore.Lock { return directories(e, e.Calls, mkdirlock.TreeStyle, false) }

func directories(e explore.Env, dir func() mkdirlock.Dir, style mkdirlock.Style, tokens bool) explore.Lock {
	return &mkdirlock.Lock{NewDir: dir, Name: lockName, Style: style, Tokens: tokens, Address: "mkdir:/L",
		Pace: mkdirlock.Pace{Min: time.Second, Max: time.Second}, NewID: e.NewID, Judge: e.Judge, Keeper: e.Keeper,
		// The time is part of names; if it passed, no two states would be equal.
		Today: func() time.Time { return time.Unix(1_700_000_000, 0) }}
}

// A script is what people have written since there is mkdir: who can make the
// directory has the lock, and removes it in the end. It breaks nobody.
type script struct {
	explore.Lock // nobody asks more of it
	dir          mkdirlock.Dir
	id           string // of no use to others
}

func newScript(e explore.Env) explore.Lock { return script{dir: e.Calls(), id: e.NewID()} }

func (s script) Attempt(backend.Request) (backend.Attempt, error) { return s, nil }

func (s script) Try(ctx context.Context) (backend.Hold, error) {
	if err := s.dir.Mkdir(ctx, lockName); err != nil {
		return nil, &backend.HeldError{}
	}
	return s, nil
}

func (s script) Wait(ctx context.Context) error {
	s.dir.Await(ctx, lockName, process.Process{}, time.Second)
	return nil
}

func (s script) Withdraw(context.Context) error  { return nil }
func (s script) ID() string                      { return s.id }
func (s script) Token() uint64                   { return 0 }
func (s script) Heartbeat(context.Context) error { return nil }
func (s script) Tend(context.Context) error      { return nil }

func (s script) Release(ctx context.Context) error {
	if s.dir.Rmdir(ctx, lockName) != nil {
		return backend.ErrGone
	}
	return nil
}
