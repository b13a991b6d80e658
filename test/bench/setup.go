package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// A bench is what all measurements share.
type bench struct {
	plan
	dir       string // of everything we make, and of the locks
	locksmith string // the program, built for us
	floor     string // the bare Go program
	looper    string // the looping Go program
	flock     string // flock(1), empty where it is not installed
	messages  *os.File
}

// newBench makes the directory and builds the programs in it.
func newBench(ctx context.Context, p plan) (*bench, error) {
	dir, err := os.MkdirTemp("", "locksmith-bench-")
	if err != nil {
		return nil, err
	}
	b := &bench{plan: p, dir: dir, locksmith: filepath.Join(dir, "locksmith"), floor: filepath.Join(dir, "floor"), looper: filepath.Join(dir, "looper")}
	if err := b.prepare(ctx); err != nil {
		b.remove()
		return nil, err
	}
	return b, nil
}

func (b *bench) prepare(ctx context.Context) (err error) {
	b.flock, _ = exec.LookPath("flock")
	// A file, not a pipe: reading what the rivals say would cost them time.
	b.messages, err = os.OpenFile(b.path("messages"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if err := build(ctx, b.locksmith, "locksmith/cmd/locksmith"); err != nil {
		return err
	}
	if err := build(ctx, b.looper, "locksmith/test/bench/looper"); err != nil {
		return err
	}
	return build(ctx, b.floor, "locksmith/test/bench/floor")
}

func build(ctx context.Context, program, source string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", source, err, said)
	}
	return nil
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) remove() {
	_ = b.messages.Close() // harmless on nil
	_ = os.RemoveAll(b.dir)
}

// lastMessages returns the end of what the rivals said on standard error, to
// explain a failure.
func (b *bench) lastMessages() string {
	const most = 2000
	said, _ := os.ReadFile(b.path("messages"))
	if len(said) == 0 {
		return ""
	}
	return "\nlast messages:\n" + string(said[max(0, len(said)-most):])
}
