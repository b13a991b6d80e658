package mkdirlock

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/protocol"
)

var _ backend.Lister = (*Lock)(nil)

// List implements backend.Lister. An empty directory is a lock that somebody unknown
// holds. With TreeStyle, only locks of that style are told of.
func (l *Lock) List(ctx context.Context, listing backend.Listing) error {
	dir := l.NewDir()
	defer dir.Close()
	w := finder.Walk{
		Directories: []finder.DirectoryKind{listKind{place: l, dir: dir, empty: true}},
		Listing:     listing,
	}
	if r, ok := dir.(rooted); ok {
		w.Tree = finder.FileTree{Root: r.Root(l.Name), Address: l.Address}
	} else {
		w.Tree, w.Fatal, w.Step = timedTree{l, dir}, passing, nil // all goes over one connection
	}
	if w.Depth == 0 {
		w.Depth = l.Depth
	}
	return w.Run(ctx)
}

// A rooted Dir is one on a file system.
type rooted interface{ Root(name string) string }

// A timedTree is where a Dir leads to.
type timedTree struct {
	place *Lock
	dir   Dir
}

// List implements finder.Tree.
func (t timedTree) List(ctx context.Context, below string) ([]finder.Entry, error) {
	l := *t.place
	l.Address = backend.Below(l.Address, below)
	timed, ok := t.dir.(Timed)
	if !ok {
		return nil, l.usage("list the directory", "this place does not tell what is a directory", "")
	}
	entries, err := timed.Entries(ctx, l.Name+below)
	switch {
	case err == nil && below == "" && len(entries) == 0:
		err = t.missing(ctx)
	case below != "" && (backend.CodeOf(err) == protocol.Usage || refused(err) && t.gone(ctx, l.Name+below)):
		return nil, fs.ErrNotExist // or no lock of ours may have such a name
	}
	if err != nil {
		return nil, l.fail("list the directory", err)
	}
	var all []finder.Entry
	for _, e := range entries {
		t := finder.Other
		if e.Dir {
			t = finder.Subdirectory
		}
		all = append(all, finder.Entry{Name: e.Name, Type: t})
	}
	return all, nil
}

// missing tells a place that is not there from one that is empty, which some servers
// list alike.
func (t timedTree) missing(ctx context.Context) error {
	there, err := t.place.contains(ctx, t.dir, ".", t.place.Name)
	if err == nil && !there {
		return &backend.Error{Code: protocol.CannotCreate, Lock: t.place.Address, Op: "list the directory",
			Err: errors.New("it is not there"), Hint: "correct the path"}
	}
	if err != nil && passing(err) {
		return err
	}
	return nil // this user may not look at what is above
}

// gone reports that a directory is not there any more.
func (t timedTree) gone(ctx context.Context, name string) bool {
	parent, base := path.Split(name)
	there, err := t.place.contains(ctx, t.dir, path.Clean(parent), base)
	return err == nil && !there
}

// Read implements finder.Tree: no lock here is a file.
func (timedTree) Read(string) finder.Content { return finder.Content{} }
