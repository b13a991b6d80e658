package soak

import (
	"context"
	"time"

	"locksmith/backends/clock"
	"locksmith/backends/mkdirlock"
	"locksmith/backends/process"
)

// directories is a client's connection to a place with locks of directories.
type directories struct{ client }

var _ mkdirlock.Dir = directories{}

// connect opens one.
func (c client) connect() mkdirlock.Dir {
	c.keep(1)
	return directories{c}
}

func (d directories) Mkdir(_ context.Context, name string) error {
	return mkdirlock.Outcome(d.mkdir(name))
}

func (d directories) Rmdir(_ context.Context, name string) error {
	return mkdirlock.Outcome(d.rmdir(name))
}

func (d directories) Rename(_ context.Context, from, to string) error {
	return mkdirlock.Outcome(d.rename(from, to))
}

func (d directories) List(_ context.Context, name string) ([]string, error) {
	names, err := d.list(name)
	return names, mkdirlock.Outcome(err)
}

func (d directories) Await(ctx context.Context, _ string, _ process.Process, wait time.Duration) {
	clock.Sleep(ctx, bubbleTime{}, wait)
}

func (d directories) Close() { d.keep(-1) }
