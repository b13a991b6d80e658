//go:build unix

package main

import (
	"context"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backoff"
	"locksmith/backends/generation/objects"
	"locksmith/backends/generation/symlinks"
	"locksmith/backends/link"
	"locksmith/backends/local"
	"locksmith/backends/mkdirlock"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/test/explorer/actors"
)

// system is the code of nfs:, with everything that it needs of the world.
func system(e actors.Env) actors.Lock {
	return &symlinks.Lock{Dir: e.Dir(), Address: "nfs:/lock", Env: e.Owner()}
}

// timeless is for locks with the time in names or files: if that time passed, no two states would
// be equal.
func timeless(e actors.Env) owner.Env {
	env := e.Owner()
	env.Today = func() time.Time { return time.Unix(1_700_000_000, 0) }
	return env
}

// lockName is the lock of directories.
const lockName = "L"

// plain is the code of mkdir:, ftp: and ftps:, in plain style.
func plain(e actors.Env) actors.Lock {
	return directories(e, e.Calls, mkdirlock.PlainStyle, false)
}

// disk is plain on a disk, where gate and commit may be one step.
func disk(e actors.Env) actors.Lock { return directories(e, e.Disk, mkdirlock.PlainStyle, false) }

// tree is the code of mkdir:, ftp: and ftps: in dir style, with tokens.
func tree(e actors.Env) actors.Lock { return directories(e, e.Calls, mkdirlock.DirStyle, true) }

// bare is tree without tokens.
func bare(e actors.Env) actors.Lock { return directories(e, e.Calls, mkdirlock.DirStyle, false) }

func directories(e actors.Env, dir func() dirs.Dir, style mkdirlock.Style, tokens bool) actors.Lock {
	return &mkdirlock.Lock{NewDir: dir, Name: lockName, Style: style, Tokens: tokens, Address: "mkdir:/L",
		Pace: mkdirlock.Pace{Min: time.Second, Max: time.Second}, Env: timeless(e)}
}

// A script does what people have done since there is mkdir: whoever can make the directory has
// the lock, and removes it in the end. It breaks nobody.
type script struct {
	actors.Lock // nothing else is asked of it
	dir         dirs.Dir
	id          string // of no use to other processes
}

func newScript(e actors.Env) actors.Lock { return script{dir: e.Calls(), id: e.NewID()} }

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

// stored is the code of s3:.
func stored(e actors.Env) actors.Lock {
	return &objects.Lock{Store: e.Objects(), Address: "s3://bucket/lock", Env: timeless(e)}
}

// kernel is the code of local:.
func kernel(e actors.Env) actors.Lock {
	env := e.Near()
	env.Today = timeless(e).Today
	return local.On("local:/L", e.Machine, env)
}

// A hand removes the lock file, whoever has made it, and wants nothing.
type hand struct {
	actors.Lock // nothing else is asked of it
	env         actors.Env
}

func newHand(e actors.Env) actors.Lock { return hand{env: e} }

func (h hand) Attempt(backend.Request) (backend.Attempt, error) { return h, nil }

func (h hand) Try(context.Context) (backend.Hold, error) {
	h.env.RemoveByHand()
	return nil, &backend.HeldError{}
}

func (h hand) Wait(context.Context) error     { return nil }
func (h hand) Withdraw(context.Context) error { return nil }

// fileName is the lock file's name.
const fileName = "L"

// linked is the code of link:.
func linked(e actors.Env) actors.Lock {
	second := backoff.Range{Min: time.Second, Max: time.Second}
	return &link.Lock{NewFS: e.Files, Name: fileName, Address: "link:/L",
		Polls: backoff.Config{Poll: second, Quick: 1, Slow: second, Random: func(int64) int64 { return 0 }},
		Env:   timeless(e), Self: e.Self}
}

// A tool is another program that locks. It links a file of its own to the lock. If the file then
// has two links, it has the lock. In the end it removes the lock, whoever has it. It breaks
// nobody.
type tool struct {
	actors.Lock // nothing else is asked of it
	fs          link.FS
	id          string // of no use to other processes
}

func newTool(e actors.Env) actors.Lock { return &tool{fs: e.Files(), id: e.NewID()} }

// toolMark is how the names of tools' own files begin.
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
