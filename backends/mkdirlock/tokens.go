package mkdirlock

import (
	"context"
	"errors"
	"slices"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/tokens"
	"locksmith/protocol"
)

// Fencing tokens are the numbers of directories fence.<n> beside the lock. An
// exclusive holder makes the next even number. Those who share the lock have the
// next odd one in common.

// withToken gives a hold its token. We hold the lock only if our entry is still there after the
// token was made.
func (a *attempt) withToken(ctx context.Context, h *hold, err error) (*hold, error) {
	if err != nil || !a.lock.Tokens {
		return h, err
	}
	if h.token, err = a.fence(ctx, h.claim.entry.Kind); err == nil {
		//rule:beat
		err = h.claim.refresh(ctx)
	}
	if err != nil {
		a.phase = unsure // we have the lock, perhaps; the next try finds out
		a.strayed = backend.CodeOf(err) == protocol.Usage
		return nil, err
	}
	return h, nil
}

func (a *attempt) fence(ctx context.Context, k labels.Kind) (uint64, error) {
	var known uint64
	// We have the lock by now, so Retry does not end with ctx. The calls, which take the time, heed
	// ctx.
	n, err := backend.Retry(context.WithoutCancel(ctx), backend.Races, func() (uint64, error) {
		all, err := a.lock.fences(ctx, a.dir)
		if err != nil {
			return 0, err
		}
		newest := max(all.Newest(), known)
		if k == labels.Shared && newest%2 == 1 {
			return newest, nil
		}
		n := nextFence(newest, k)
		err = a.dir.Mkdir(ctx, a.lock.Name+"/"+labels.FenceName(n))
		switch {
		case err == nil:
			a.removeOld(ctx, all)
			return n, nil
		case !dirs.Refused(err) && !dirs.Unclear(err):
			return 0, a.lock.fail("make a fencing token", err)
		case dirs.Unclear(err) && k == labels.Exclusive:
			known = n // whoever made it, this number is used
		}
		return 0, backend.ErrAgain
	})
	if errors.Is(err, backend.ErrAgain) {
		err = a.lock.Address.Failure(protocol.CannotCreate, "make a fencing token", errors.New("the server refuses it again and again"),
			"see locksmith doctor, or add &tokens=no")
	}
	return n, err
}

// nextFence is the number after the newest that is fit for the kind.
func nextFence(newest uint64, k labels.Kind) uint64 {
	if k == labels.Exclusive {
		return newest/2*2 + 2
	}
	return newest/2*2 + 1
}

// fences lists the tokens there are, in ascending order. A listing without the lock, in which our
// entry is, is not to be trusted.
func (l *Lock) fences(ctx context.Context, dir dirs.Dir) (tokens.Numbers, error) {
	names, err := dir.List(ctx, l.Name)
	if err == nil && !slices.Contains(names, labels.LockName) {
		err = dirs.ErrUnclear
	}
	if err != nil {
		return nil, l.fail("list fencing tokens", err)
	}
	if len(labels.EntriesIn(names)) > 0 {
		return nil, l.Address.Usage("acquire", "somebody holds it in plain style", "use one address for all: with ?style=dir, or without")
	}
	return labels.FencesIn(names), nil
}

// leaveOtherStyle removes the empty L/lock from an L that somebody holds as a plain lock. Else that
// holder could not remove L.
func (a *attempt) leaveOtherStyle(ctx context.Context) error {
	if !a.strayed {
		return nil
	}
	if err := a.lock.removeIfEmpty(ctx, a.dir, a.lock.lock(), "leave a lock in plain style"); err != nil && !dirs.Unclear(err) {
		return err
	}
	a.strayed = false
	return nil
}

// removeOld removes tokens that were old already when ours was made. The newest of them stays
// beside ours. Of generations more stay, because they also decide who holds the lock.
func (a *attempt) removeOld(ctx context.Context, all tokens.Numbers) {
	all.RemoveOld(all.Newest(), 0, len(all), func(n uint64) error {
		_ = a.dir.Rmdir(ctx, a.lock.Name+"/"+labels.FenceName(n)) // the next one tries again
		return nil
	})
}

// NewestToken implements backend.Backend. It changes the directory of the tokens before it lists
// it: else a client of NFS may believe an old listing.
func (l *Lock) NewestToken(ctx context.Context) (uint64, error) {
	if l.Style != DirStyle || !l.Tokens {
		return 0, l.Address.Failure(protocol.Usage, "look for the newest token", backend.ErrNoTokens, "")
	}
	dir := l.NewDir()
	defer dir.Close()
	probe := l.reservation(l.probe())
	made := dir.Mkdir(ctx, probe)
	removed := dir.Rmdir(ctx, probe)
	if made != nil && removed != nil {
		there, err := l.exists(ctx, dir, l.Name)
		if dirs.Refused(made) && err == nil && !there {
			return 0, nil // never used
		}
		return 0, l.fail("change the directory of the lock", made)
	}
	names, err := dir.List(ctx, l.Name)
	if err != nil {
		return 0, l.fail("list fencing tokens", err)
	}
	return labels.FencesIn(names).Newest(), nil
}
