package mkdirlock

import (
	"context"
	"errors"
	"path"
	"slices"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

var _ backend.Remover = (*Lock)(nil)

// Remains implements backend.Remover: in the style of directories they stay.
func (l *Lock) Remains() bool { return l.Style == TreeStyle }

// Exists implements backend.Remover. An empty list is no proof, as some servers have one of
// what is not there, and a refusal none, as some refuse to list what is empty.
func (l *Lock) Exists(ctx context.Context) (bool, error) {
	dir := l.NewDir()
	defer dir.Close()
	names, err := dir.List(ctx, l.Name)
	if err != nil && !refused(err) {
		return false, l.fail("list the lock directory", err)
	}
	if len(names) > 0 {
		return true, nil
	}
	there, err := l.contains(ctx, dir, ".", l.Name)
	if err != nil {
		return false, l.fail("look for the lock directory", err)
	}
	return there, nil
}

// Remove implements backend.Remover. All that it removes is empty, so that nobody is
// hit who comes at that moment. The tokens go last but one: they go on unless all
// else went well.
func (l *Lock) Remove(ctx context.Context, h backend.Hold) error {
	if err := h.Release(ctx); err != nil {
		return err
	}
	dir := l.NewDir()
	defer dir.Close()
	if err := l.rmdirEmpty(ctx, dir, l.lock()); err != nil {
		return err
	}
	names, err := dir.List(ctx, l.Name)
	switch {
	case err != nil && !refused(err):
		return l.fail("list the lock directory", err)
	case slices.ContainsFunc(names, func(n string) bool { _, ok := parseFence(n); return !ok }):
		return l.inUse()
	}
	for _, n := range fencesIn(names) {
		if err := l.rmdirEmpty(ctx, dir, l.Name+"/"+fenceName(n)); err != nil {
			return err
		}
	}
	return l.rmdirEmpty(ctx, dir, l.Name)
}

// rmdirEmpty removes a directory that is empty. That it is not there is no error.
func (l *Lock) rmdirEmpty(ctx context.Context, dir Dir, name string) error {
	err := dir.Rmdir(ctx, name)
	if err == nil {
		return nil
	}
	parent, base := path.Split(name)
	there, unread := l.contains(ctx, dir, path.Clean(parent), base)
	switch {
	case !refused(err) || unread != nil:
		return l.fail("remove the lock directory", errors.Join(err, unread))
	case !there:
		return nil
	}
	return l.inUse()
}

func (l *Lock) inUse() error {
	return &backend.Error{Code: protocol.Held, Lock: l.Address, Op: "remove",
		Err:  errors.New("there is something in it that somebody made meanwhile, so it stays"),
		Hint: "see who with: locksmith status"}
}
