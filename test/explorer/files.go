package main

import (
	"context"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backoff"
	"locksmith/backends/link"
	"locksmith/backends/process"
	"locksmith/test/explorer/explore"
)

// fileName is the lock file.
const fileName = "L"

// linked is the code of link:.
func linked(e explore.Env) explore.Lock {
	second := backoff.Range{Min: time.Second, Max: time.Second}
	return &link.Lock{NewFS: e.Files, Name: fileName, Address: "link:/L",
		Polls: backoff.Config{Poll: second, Quick: 1, Slow: second, Random: func(int64) int64 { return 0 }},
		NewID: e.NewID, Judge: e.Judge, Keeper: e.Keeper, Self: e.Self,
		// The time is part of files; if it passed, no two states would be equal.
		Today: func() time.Time { return time.Unix(1_700_000_000, 0) }}
}

// A tool is what others lock with: it links a file of its own to the lock, which it
// has if the file then counts two links, and removes the lock in the end, whoever's
// it is. It breaks nobody.
type tool struct {
	explore.Lock // nobody asks more of it
	fs           link.FS
	id           string // of no use to others
}

func newTool(e explore.Env) explore.Lock { return &tool{fs: e.Files(), id: e.NewID()} }

// toolMark is what the own files of tools begin with.
const toolMark = "tool."

func (t *tool) own() string { return toolMark + t.id }

func (t *tool) Attempt(backend.Request) (backend.Attempt, error) { return t, nil }

func (t *tool) Try(context.Context) (backend.Hold, error) {
	_ = t.fs.Create(t.own(), "4242\n")
	_ = t.fs.Link(t.own(), fileName)
	st, err := t.fs.Stat(t.own())
	if err != nil || st.Links != 2 {
		_ = t.fs.Unlink(t.own())
		return nil, &backend.HeldError{}
	}
	_ = t.fs.Unlink(t.own())
	return t, nil
}

func (t *tool) Wait(ctx context.Context) error {
	t.fs.Await(ctx, fileName, process.Process{}, time.Second)
	return nil
}

func (t *tool) Withdraw(context.Context) error { return t.fs.Unlink(t.own()) }

func (t *tool) ID() string                      { return t.id }
func (t *tool) Token() uint64                   { return 0 }
func (t *tool) Heartbeat(context.Context) error { return nil }
func (t *tool) Tend(context.Context) error      { return nil }

func (t *tool) Release(context.Context) error {
	if t.fs.Unlink(fileName) != nil {
		return backend.ErrGone
	}
	return nil
}
