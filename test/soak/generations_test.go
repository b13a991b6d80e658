package soak

import (
	"context"
	"errors"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/clock"
	"locksmith/backends/nfs/generation"
	"locksmith/backends/process"
)

// generations is a client's directory for a lock of nfs:.
type generations struct{ client }

var _ generation.Dir = generations{}

func (g generations) Prepare() error {
	for _, name := range []string{generation.Reservations, generation.Generations} {
		if err := g.mkdir(name); err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
	return nil
}

func (g generations) Mkdir(name string) error            { return g.mkdir(name) }
func (g generations) Rmdir(name string) error            { return g.rmdir(name) }
func (g generations) Rename(from, to string) error       { return g.rename(from, to) }
func (g generations) Unlink(name string) error           { return g.unlink(name) }
func (g generations) List(name string) ([]string, error) { return g.list(name) }

func (g generations) Symlink(target, name string) error {
	return g.do(func() error { return g.put(name, &node{target: target, modified: time.Now()}) })
}

func (g generations) Readlink(name string) (target string, err error) {
	err = g.do(func() error {
		n, err := g.get(name)
		switch {
		case err != nil:
			return err
		case n.target == "":
			return unix.EINVAL
		}
		target = n.target
		return nil
	})
	return target, err
}

func (g generations) Touch(name string) error {
	return g.do(func() error {
		n, err := g.get(name)
		if err == nil {
			n.modified = time.Now()
		}
		return err
	})
}

func (g generations) Look(name string) (s generation.Sight, err error) {
	err = g.do(func() error {
		n, err := g.get(name)
		if err != nil {
			return err
		}
		s = generation.Sight{Sign: strconv.FormatInt(n.modified.UnixNano(), 36), Modified: n.modified, Links: 2}
		for _, child := range n.in {
			if child.isDirectory() {
				s.Links++
			}
		}
		return nil
	})
	return s, err
}

func (g generations) Await(ctx context.Context, _ string, _ process.Process, d time.Duration) {
	clock.Sleep(ctx, bubbleTime{}, d)
}
