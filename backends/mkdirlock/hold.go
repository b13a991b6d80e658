package mkdirlock

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/watch"
	"locksmith/protocol"
)

// A hold is our entry in the lock.
type hold struct {
	claim  *claim
	lock   *Lock
	dir    dirs.Dir
	token  uint64
	others watch.Others[spot] // for Tend only
	next   string             // the ticket with which Tend goes on
	crowd  bool               // there are too many names around the lock to list them again and again
	stage  stage
}

// A stage is how far a hold has come to its end. They follow each other in this order, and some
// may be left out. After a lost answer Release is called again.
type stage int

const (
	holding  stage = iota
	asked          // we asked to remove our entry; the answer was lost
	emptied        // we removed our entry, so that an L in plain style is ours
	checking       // we asked to remove L, or L may not be ours: we only look at it
	gone           // our entry was found missing: there is nothing to release
)

// ID implements backend.Hold.
func (h *hold) ID() string { return h.claim.entry.Ticket.ID }

// Token implements backend.Hold.
func (h *hold) Token() uint64 { return h.token }

// Heartbeat implements backend.Hold.
func (h *hold) Heartbeat(ctx context.Context) error {
	if h.stage == gone {
		return h.lock.lost("refresh our entry")
	}
	err := h.claim.beat(ctx)
	if errors.Is(err, dirs.ErrAbsent) {
		h.lose()
		return h.lock.lost("refresh our entry")
	}
	return err
}

func (h *hold) lose() {
	h.stage = gone
	h.claim.unpin()
	h.dir.Close()
}

// Release implements backend.Hold.
func (h *hold) Release(ctx context.Context) error {
	if h.stage == gone {
		return h.lock.lost("remove our entry")
	}
	if err := h.removeEntry(ctx); err != nil {
		return err
	}
	//rule:pinned
	if h.lock.Style == PlainStyle {
		if err := h.removeLock(ctx); err != nil {
			return err
		}
	}
	h.claim.unpin()
	h.dir.Close()
	return nil
}

// removeEntry removes our entry. If our entry is missing, we may have removed it ourselves by a
// request whose answer was lost.
func (h *hold) removeEntry(ctx context.Context) error {
	if h.stage >= emptied {
		return nil
	}
	err := h.claim.remove(ctx)
	switch {
	case err == nil:
		h.stage = emptied
	case errors.Is(err, dirs.ErrAbsent) && h.stage == asked:
		//rule:doubt
		h.stage = checking // perhaps somebody else removed our entry: then L is not ours
	//rule:gone
	case errors.Is(err, dirs.ErrAbsent):
		h.lose()
		return h.lock.lost("remove our entry")
	default:
		if dirs.Unclear(err) {
			h.stage = asked
		}
		return err
	}
	return nil
}

// removeLock removes L, which is empty and ours. After an unclear answer L may be somebody else's
// already.
func (h *hold) removeLock(ctx context.Context) error {
	if h.stage == checking {
		return h.mustBeRemoved(ctx)
	}
	err := h.dir.Rmdir(ctx, h.lock.lock())
	switch {
	case err == nil:
		return nil
	//rule:unclear
	case !dirs.Refused(err) && !dirs.Unclear(err):
		return h.lock.fail("remove the lock directory", err)
	}
	h.stage = checking
	left := h.mustBeRemoved(ctx)
	if left != nil && dirs.Refused(err) {
		return errors.Join(h.lock.fail("remove the lock directory", err), left)
	}
	return left
}

// mustBeRemoved returns nil if L is gone, or has a new holder.
func (h *hold) mustBeRemoved(ctx context.Context) error {
	there, err := h.lock.exists(ctx, h.dir, h.lock.Name)
	if err != nil {
		return h.lock.fail("look whether the lock directory is gone", err)
	}
	if !there {
		return nil
	}
	names, err := h.dir.List(ctx, h.lock.lock())
	if err != nil && !dirs.Refused(err) {
		return h.lock.fail("look whether the lock directory is gone", err)
	}
	if slices.ContainsFunc(names, func(name string) bool { _, ok := labels.ParseEntry(name); return ok }) {
		return nil
	}
	if len(names) > 0 {
		return h.lock.Address.Failure(protocol.CannotCreate, "remove the lock directory",
			fmt.Errorf("what is in it is not ours, such as %s: %w", backend.Quoted(names[0]), backend.ErrStays), "remove it if nobody needs it")
	}
	return h.lock.orphaned("remove the lock directory")
}

var _ backend.Hold = (*hold)(nil)
