package backend

import (
	"context"
	"errors"
	"slices"

	"locksmith/protocol"
)

// Break ends somebody else's acquisition because an operator says so: that with the ID, or if there is
// none, as of another tool's lock, that with the Sign. Its error is ErrGone if there is no such
// acquisition any more, or never was one, and ErrLives if the operating system keeps the lock for a
// helper that lives. One that is not where h was seen is looked for: a waiter may have got the lock.
func Break(ctx context.Context, b interface {
	Read(context.Context) (Report, error)
	Strike(context.Context, Holder) error
}, lock Name, h Holder) error {
	if h.ID == "" && h.Sign == "" {
		return lock.NoSuch(h.BreakOp())
	}
	for range Races {
		if !h.OfKernel {
			if err := b.Strike(ctx, h); !errors.Is(err, ErrGone) {
				return err
			}
		}
		r, err := b.Read(ctx)
		if err != nil {
			return err
		}
		all := slices.Concat(r.Holders, r.Waiters)
		i := slices.IndexFunc(all, func(x Holder) bool { return x.ID == h.ID && (h.ID != "" || x.Sign == h.Sign) })
		if i < 0 {
			return lock.NoSuch(h.BreakOp())
		}
		if h = all[i]; h.OfKernel {
			return lock.Failure(protocol.Held, h.BreakOp(), ErrLives, h.EndingKept())
		}
	}
	return lock.Failure(protocol.Held, h.BreakOp(), errors.New("each time it was somewhere else when it was to be removed"), "try again")
}

// BreakOp is what it is called in errors to break it.
func (h Holder) BreakOp() string {
	if h.ID == "" {
		return "remove it"
	}
	return "break " + protocol.CleanText(h.ID, 100)
}
