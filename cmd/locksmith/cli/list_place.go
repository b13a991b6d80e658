package cli

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"locksmith/backends"
	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/protocol"
)

// place tells of what was found in one place. A lock without a name stands for an
// error alone.
func (l *listing) place(ctx context.Context, place string, tell func(lockStatus, error)) {
	lister, err := l.open(place)
	if err != nil {
		tell(lockStatus{}, err)
		return
	}
	err = l.watched(ctx, place, lister, func(f backend.Listed) {
		if s, ok := l.status(f); ok {
			tell(s, f.Err)
		}
	})
	if err != nil {
		tell(lockStatus{}, err)
	}
}

// lookTime is how long one look at a file system may take, such as listing one of its
// directories.
const lookTime = time.Minute

// watched lists a place. A look may hang, as it does on a dead server, and is left
// behind after lookTime or by a signal.
func (l *listing) watched(ctx context.Context, place string, lister backend.Lister, tell func(backend.Listed)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(lookTime, func() { cancel(flags.NoAnswer(place, lookOp, lookTime)) })
	watch.Stop() // until there is a look
	defer watch.Stop()
	found, done := make(chan backend.Listed), make(chan error, 1)
	go func() {
		done <- lister.List(ctx, backend.Listing{
			Depth: max(int(l.depth), 0),
			Step:  func() { watch.Reset(lookTime) },
			Tell: func(f backend.Listed) {
				watch.Stop() // whoever reads our output may take his time
				select {
				case found <- f:
				case <-ctx.Done():
				}
			},
		})
	}()
	for {
		select {
		case f := <-found:
			tell(f)
		case err := <-done:
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (l *listing) open(place string) (backend.Lister, error) {
	if isPath(place) {
		dir, err := absolute(place)
		if err != nil {
			return nil, backend.FileError(place, "find the directory where we are", err)
		}
		return backends.Tree(dir), nil
	}
	b, canonical, err := l.Open(directory(place))
	if err != nil {
		return nil, err
	}
	lister, ok := b.(backend.Lister)
	if !ok {
		return nil, &backend.Error{Code: protocol.Usage, Lock: canonical, Op: "list",
			Err: errors.New("locks of this kind cannot be listed"), Hint: "see who holds one with: locksmith status"}
	}
	return lister, nil
}

// isPath tells a path from an address, and from the name of a profile, which has no slash.
func isPath(place string) bool {
	before, _, _ := strings.Cut(place, ":")
	return place == "." || place == ".." || strings.Contains(before, "/")
}

// absolute is a path as addresses have it. Where ".." leads after a symbolic link the file
// system knows.
func absolute(place string) (string, error) {
	if path.IsAbs(place) {
		return place, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	place = filepath.ToSlash(here) + "/" + place
	if slices.Contains(strings.Split(place, "/"), "..") {
		if real, err := filepath.EvalSymlinks(place); err == nil {
			place = filepath.ToSlash(real)
		}
	}
	return "/" + strings.TrimPrefix(place, "/"), nil // on Windows it begins with C:
}

// directory is the address of a directory, which may end in a slash, as that of a lock.
func directory(place string) string {
	path, query, has := strings.Cut(place, "?")
	if strings.HasSuffix(path, "/") {
		path += "."
	}
	if has {
		path += "?"
	}
	return path + query
}

// status is what is shown of a lock; not ok if nothing is.
func (l *listing) status(f backend.Listed) (s lockStatus, ok bool) {
	s = unseen(f.Lock)
	if !l.all() {
		s.wanted = func(p presence) bool { return l.wants(p, f.Report.Token) }
	}
	if f.Err != nil {
		s.Error = f.Err.Error()
		return s, true
	}
	s.take(f.Report)
	return s, l.all() || len(s.Holders)+len(s.Waiters) > 0
}
