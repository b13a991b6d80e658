package finder

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"locksmith/backends/backend"
)

// Run walks. Its error is that of the directory where it begins, a fatal one, ctx's, or else a
// *backend.LeftOutError.
func (w *Walk) Run(ctx context.Context) error {
	root, err := w.list(ctx, "")
	if err != nil {
		return err
	}
	if err := w.visit(ctx, root, nil, 1); err != nil {
		return err
	}
	left := backend.Quota{Known: beyond(w.seen.Known, w.Most.Known), Foreign: beyond(w.seen.Foreign, w.Most.Foreign)}
	if left != (backend.Quota{}) {
		return &backend.LeftOutError{Most: w.Most, Left: left}
	}
	return nil
}

// beyond returns how many of n are beyond a limit; 0 is no limit.
func beyond(n, limit int) int {
	if limit == 0 {
		return 0
	}
	return max(n-limit, 0)
}

// isFull reports that no more foreign locks are told.
func (w *Walk) isFull() bool { return w.Most.Foreign > 0 && w.seen.Foreign >= w.Most.Foreign }

func (w *Walk) list(ctx context.Context, path string) (*Directory, error) {
	if err := w.step(ctx); err != nil {
		return nil, err
	}
	entries, err := w.Tree.List(ctx, path)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(x, y Entry) int { return strings.Compare(x.Name, y.Name) })
	return &Directory{path, entries, w.isFull}, nil
}

// visit looks at the entries of a directory, which are at this depth.
func (w *Walk) visit(ctx context.Context, d, in *Directory, depth int) error {
	part, err := w.recognised(ctx, d, in)
	if err != nil || w.Depth > 0 && depth > w.Depth {
		return err
	}
	for _, e := range d.Entries {
		if err := w.step(ctx); err != nil {
			return err
		}
		switch {
		case part(e.Name):
		case e.Type == RegularFile:
			err = w.file(ctx, d, e.Name)
		case e.Type == Subdirectory:
			err = w.directory(ctx, d, e.Name, depth)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// step is called before each look.
func (w *Walk) step(ctx context.Context) error {
	if w.Step != nil {
		w.Step()
	}
	return ctx.Err()
}

// recognised tells of the lock that a directory is, if it is one. It returns which names in the
// directory are parts of that lock.
func (w *Walk) recognised(ctx context.Context, d, in *Directory) (part func(string) bool, err error) {
	if form := d.form(w.Others); form != nil && len(w.Directories) > 0 {
		return func(name string) bool { return slices.Contains(form, name) }, nil
	}
	for _, k := range w.Directories {
		a := k.Directory(ctx, d, in)
		if err := w.tell(ctx, a); err != nil {
			return nil, err
		}
		if a.Mine {
			return k.Part, nil
		}
	}
	return func(string) bool { return false }, nil
}

func (w *Walk) directory(ctx context.Context, in *Directory, name string, depth int) error {
	for _, k := range w.Directories {
		a := k.Beside(ctx, in, name)
		if err := w.tell(ctx, a); err != nil || a.Mine {
			return err
		}
	}
	if len(w.Directories) == 0 && depth == w.Depth {
		return nil // nothing in it would be looked at
	}
	d, err := w.list(ctx, in.Path+"/"+name)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case gone(err):
		return nil
	case err != nil:
		return w.tell(ctx, Answer{Lock: &backend.Listed{Err: err}})
	}
	return w.visit(ctx, d, in, depth+1)
}

func (w *Walk) file(ctx context.Context, in *Directory, name string) error {
	var seen *Content
	content := func() Content {
		if seen == nil {
			c := w.Tree.Read(in.Path + "/" + name)
			seen = &c
		}
		return *seen
	}
	for _, k := range w.Files {
		a := k.File(ctx, in, name, content)
		if err := w.tell(ctx, a); err != nil || a.Mine {
			return err
		}
	}
	if w.Other != nil && seen != nil && seen.mayBeLock(name) {
		w.Other()
	}
	return nil
}

func (w *Walk) tell(ctx context.Context, a Answer) error {
	if a.LeftOut {
		w.seen.Foreign++
	}
	if a.Lock == nil {
		return nil
	}
	if gone(a.Lock.Err) {
		return nil
	}
	if err := a.Lock.Err; err != nil && (ctx.Err() != nil || w.Fatal != nil && w.Fatal(err)) {
		return err
	}
	n, limit := &w.seen.Known, w.Most.Known
	if isForeign(a.Lock) {
		n, limit = &w.seen.Foreign, w.Most.Foreign
	}
	if *n++; beyond(*n, limit) == 0 {
		w.Tell(*a.Lock)
	}
	return nil
}

// isForeign reports that nothing of ours was seen in what may be a lock.
func isForeign(l *backend.Listed) bool {
	ours := func(h backend.Holder) bool { return h.Record != nil }
	held := len(l.Report.Holders) > 0
	return l.Err != nil || held && !slices.ContainsFunc(l.Report.Holders, ours) && !slices.ContainsFunc(l.Report.Waiters, ours)
}

// mayBeLock reports whether a file looks like another tool's lock: it has a pid and nothing else,
// or it is empty and its name ends in .lock.
func (c Content) mayBeLock(name string) bool {
	text := strings.TrimSpace(c.Text)
	_, err := strconv.ParseUint(text, 10, 22)
	return c.Err == nil && (err == nil || text == "" && strings.HasSuffix(name, ".lock"))
}
