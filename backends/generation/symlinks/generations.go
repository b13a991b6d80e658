//go:build unix

package symlinks

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
	"locksmith/backends/owner"
	"locksmith/backends/tokens"
	"locksmith/protocol"
)

// list returns the generations there are, from a fresh listing. It makes the
// lock directory where there is none, and says so.
func (l *Lock) list(ctx context.Context) (all tokens.Numbers, anew bool, err error) {
	names, err := l.names(ctx, Generations)
	if errors.Is(err, unix.ENOENT) {
		anew = true
		if err := l.Dir.Prepare(ctx); err != nil {
			return nil, anew, l.Fail(makeOp, err)
		}
		names, err = l.names(ctx, Generations)
	}
	if err != nil {
		return nil, anew, l.Fail("list generations", err)
	}
	all, err = l.parse(names)
	return all, anew, err
}

// look lists one of the two directories without making it. If it seems to be missing, that may
// be an outdated memory of this host. Then look looks at the directory above, which refreshes
// the memory, and tries again.
func (l *Lock) look(ctx context.Context, dir string) ([]string, error) {
	names, err := l.names(ctx, dir)
	if !absent(err) {
		return names, err
	}
	if _, err := l.Dir.Look(ctx, "."); err != nil {
		return nil, err
	}
	return l.names(ctx, dir)
}

// names lists a directory. It looks a stale handle up again, because the directory was replaced
// between opening and reading it.
func (l *Lock) names(ctx context.Context, dir string) (names []string, err error) {
	for range 3 {
		names, err = l.Dir.List(ctx, dir)
		if !errors.Is(err, unix.ESTALE) {
			break
		}
	}
	return names, err
}

func (l *Lock) parse(names []string) (tokens.Numbers, error) {
	var all tokens.Numbers
	for _, name := range names {
		if n, ok := parseLockName(name); ok {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	if n := all.Newest(); n >= tokens.Max {
		return nil, l.foreign(lockName(n), "nobody has counted that far")
	}
	return all, nil
}

// target reads which reservation generation n belongs to. backend.ErrAgain means that it is not
// there: we were shown something stale, or it was removed as old.
func (l *Lock) target(ctx context.Context, n uint64) (entry, error) {
	link, err := l.Dir.Readlink(ctx, lockName(n))
	switch {
	case absent(err):
		return entry{}, backend.ErrAgain
	case errors.Is(err, unix.EINVAL):
		return entry{}, l.foreign(lockName(n), "it is not a symbolic link")
	case err != nil:
		return entry{}, l.Fail("read generation", err)
	}
	e, ok := parseLink(link)
	if !ok {
		return entry{}, l.foreign(lockName(n), "it points to "+protocol.CleanText(link, 100))
	}
	return e, nil
}

// probe changes the directory of generations, but leaves everything in it as it was. A host
// reads a directory anew that it has just changed itself. Without that, others' changes may stay
// invisible: on NFSv3, one that came within the same tick of the server's clock as another.
func (l *Lock) probe(ctx context.Context, t ticket) error {
	made := l.Dir.Mkdir(ctx, t.probe())
	removed := l.Dir.Rmdir(ctx, t.probe())
	switch {
	case made == nil || removed == nil:
		return nil
	case errors.Is(made, unix.EEXIST):
		return backend.ErrAgain
	case backend.Unclear(made):
		return backend.Again(l.Fail("change the directory of generations", made))
	}
	return l.Fail("change the directory of generations", made)
}

// NewestToken is the method of backend.Backend. It changes the directory of generations
// first, as step 3 of those who share does: a listing may be older than it looks.
func (l *Lock) NewestToken(ctx context.Context) (uint64, error) {
	return used(ctx, l, func(l *Lock) (uint64, error) {
		return generation.Calmly(ctx, l.Address, "look for the newest token", func() (uint64, error) { return l.newest(ctx) })
	})
}

func (l *Lock) newest(ctx context.Context) (uint64, error) {
	t := ticket{lease: owner.MinLease, id: l.NewID()}
	err := l.probe(ctx, t)
	if absent(err) {
		// This host may have an outdated memory of it as missing.
		if _, err := l.look(ctx, Generations); absent(err) {
			return 0, nil
		} else if err != nil {
			return 0, l.Fail("list generations", err)
		}
		err = l.probe(ctx, t)
	}
	if err != nil {
		return 0, err
	}
	names, err := l.names(ctx, Generations)
	if err != nil {
		return 0, l.Fail("list generations", err)
	}
	all, err := l.parse(names)
	return all.Newest(), err
}
