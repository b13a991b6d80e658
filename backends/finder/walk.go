package finder

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"locksmith/backends/backend"
)

// A Walk is one walk through a tree.
type Walk struct {
	Tree            Tree
	Kinds           []Kind // the first that recognises something has it
	Several         bool   // several kinds are looked for, even if this system has one alone
	Only            string // if not "", look only at this name in the directory where the walk begins
	backend.Listing        // a depth of 0 is no limit

	fatal func(error) bool
	seen  backend.Quota // how many locks there were so far
}

// Run walks. Its error is that of the directory where it begins, a fatal one, ctx's, or else a
// *backend.LeftOutError.
func (w *Walk) Run(ctx context.Context) error {
	root, err := w.list(ctx, nil, "")
	if err != nil {
		return err
	}
	if err := w.visit(ctx, root, 1); err != nil {
		return err
	}
	return w.leftOut()
}

// flat is Run for a place without directories, which has locks of one kind.
func (w *Walk) flat(ctx context.Context, list func(context.Context, func(dir string) error) error) error {
	places := map[string]bool{}
	var kept backend.Haul // bounds what is kept; all that belongs to no lock passes by
	err := list(ctx, func(dir string) error {
		if places[dir] || w.Depth > 0 && strings.Count(dir, "/") > w.Depth {
			return nil
		}
		places[dir] = true
		return kept.Take(1, len(dir))
	})
	if err != nil {
		return err
	}
	for _, dir := range slices.Sorted(maps.Keys(places)) {
		if err := w.step(ctx); err != nil {
			return err
		}
		if err := w.look(ctx, w.Kinds[0], Found{Path: strings.TrimSuffix("/"+dir, "/"), Lasts: true}); err != nil {
			return err
		}
	}
	return w.leftOut()
}

// leftOut is the error if more was found than is told.
func (w *Walk) leftOut() error {
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

func (w *Walk) list(ctx context.Context, in *Directory, path string) (*Directory, error) {
	if err := w.step(ctx); err != nil {
		return nil, err
	}
	entries, err := w.Tree.List(ctx, path)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(x, y Entry) int { return strings.Compare(x.Name, y.Name) })
	if in == nil && w.Only != "" {
		entries = slices.DeleteFunc(entries, func(e Entry) bool { return e.Name != w.Only })
	}
	return &Directory{path, in, entries, w.Several}, nil
}

// visit looks at the entries of a directory, which are at this depth.
func (w *Walk) visit(ctx context.Context, d *Directory, depth int) error {
	part, err := w.recognised(ctx, d)
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

// recognised tells of the lock that a directory is, if it is one. part reports which names in the
// directory belong to that lock.
func (w *Walk) recognised(ctx context.Context, d *Directory) (part func(string) bool, err error) {
	for _, k := range w.Kinds {
		if d.has(k.Form) {
			return k.Form.Has, w.look(ctx, k, Found{Path: d.Path, In: d.In, At: d, Lasts: true})
		}
	}
	for _, k := range w.Kinds {
		if k.Directory == nil {
			continue
		}
		if i := slices.IndexFunc(w.Others, d.has); i >= 0 {
			return w.Others[i].Has, nil
		}
		if f := k.Directory(d); w.counts(k, f) {
			return k.Part, w.look(ctx, k, *f)
		}
	}
	return backend.Form{}.Has, nil
}

func (w *Walk) directory(ctx context.Context, in *Directory, name string, depth int) error {
	files := true // alone are looked for
	for _, k := range w.Kinds {
		files = files && k.Form == nil && k.Directory == nil
		if k.Beside == nil {
			continue
		}
		if f := k.Beside(in, name); f != nil {
			return w.look(ctx, k, *f)
		}
	}
	if files && depth == w.Depth {
		return nil // nothing in it would be looked at
	}
	d, err := w.list(ctx, in, in.Path+"/"+name)
	if gone(err) { // as a lock does that goes from hand to hand
		d, err = w.list(ctx, in, in.Path+"/"+name)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case gone(err):
		in.lacks(name)
		return nil
	case err != nil:
		return w.tell(ctx, backend.Listed{Err: err})
	}
	return w.visit(ctx, d, depth+1)
}

func (w *Walk) file(ctx context.Context, in *Directory, name string) error {
	var seen *Content
	content := func() Content {
		if seen == nil {
			c := w.Tree.(Reader).Read(in.Path + "/" + name)
			if gone(c.Err) { // again, for a lock may go from hand to hand
				c = w.Tree.(Reader).Read(in.Path + "/" + name)
			}
			seen = &c
		}
		return *seen
	}
	for _, k := range w.Kinds {
		if k.File == nil {
			continue
		}
		if f := k.File(in, name, content); w.counts(k, f) {
			return w.look(ctx, k, *f)
		}
	}
	if w.Other != nil && seen != nil && seen.mayBeLock(name) {
		w.Other()
	}
	return nil
}

// counts reports whether a kind recognised something.
func (w *Walk) counts(k Kind, f *Found) bool {
	if f == nil || f.Bare && w.Several {
		return false
	}
	return !f.IfMet || w.Met != nil && w.Met(string(k.addressOf(*f)))
}

func (k Kind) addressOf(f Found) backend.Name { return k.Place.Below(f.Path).With(f.Options) }

// look looks at what a kind recognised, and tells of it. To look at foreign locks that are not told
// would be in vain.
func (w *Walk) look(ctx context.Context, k Kind, f Found) error {
	switch {
	case f.Part:
		return nil
	case f.Bare && w.Most.Foreign > 0 && w.seen.Foreign >= w.Most.Foreign:
		w.seen.Foreign++
		return nil
	}
	f.Address = k.addressOf(f)
	r, err := k.Look(ctx, f)
	if err == nil && !f.Lasts && r.Success == nil && len(r.Holders)+len(r.Waiters) == 0 {
		return nil
	}
	return w.tell(ctx, backend.Listed{Lock: string(f.Address), Report: r, Err: err})
}

func (w *Walk) tell(ctx context.Context, l backend.Listed) error {
	if gone(l.Err) {
		return nil
	}
	if l.Err != nil && (ctx.Err() != nil || w.fatal != nil && w.fatal(l.Err)) {
		return l.Err
	}
	n, limit := &w.seen.Known, w.Most.Known
	if isForeign(l) {
		n, limit = &w.seen.Foreign, w.Most.Foreign
	}
	if *n++; beyond(*n, limit) == 0 {
		w.Tell(l)
	}
	return nil
}

// isForeign reports that nothing of ours was seen in what may be a lock.
func isForeign(l backend.Listed) bool {
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
