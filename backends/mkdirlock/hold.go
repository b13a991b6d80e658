package mkdirlock

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// A hold is our entry in the lock.
type hold struct {
	claim  *claim
	lock   *Lock
	dir    Dir
	others watcher // for Tend only
	token  uint64
	next   string // where Tend goes on
	crowd  bool   // too much is around the lock to be listed again and again
	gone   bool   // our entry was found missing
	// How far Release has come: answers may be lost.
	asked   bool // to remove our entry; its answer was lost
	emptied bool // it was we who removed it, so that an L in plain style is ours
	cleared bool // we asked for the removal of L, which is not to be repeated
}

// ID implements backend.Hold.
func (h *hold) ID() string { return h.claim.entry.ticket.id }

// Token implements backend.Hold.
func (h *hold) Token() uint64 { return h.token }

// Heartbeat implements backend.Hold.
func (h *hold) Heartbeat(ctx context.Context) error {
	if h.gone {
		return h.lock.lost("refresh our entry")
	}
	err := h.claim.beat(ctx)
	if errors.Is(err, errAbsent) {
		h.lose()
		return h.lock.lost("refresh our entry")
	}
	return err
}

func (h *hold) lose() {
	h.gone = true
	h.claim.unpin()
	h.dir.Close()
}

// Release implements backend.Hold.
func (h *hold) Release(ctx context.Context) error {
	if h.gone {
		return h.lock.lost("remove our entry")
	}
	if err := h.leave(ctx); err != nil {
		return err
	}
	if h.lock.Style == PlainStyle {
		if err := h.removeLock(ctx); err != nil {
			return err
		}
	}
	h.claim.unpin()
	h.dir.Close()
	return nil
}

// leave removes our entry. That it is not there may be our own doing, if an answer
// was lost.
func (h *hold) leave(ctx context.Context) error {
	if h.emptied {
		return nil
	}
	err := h.claim.remove(ctx)
	switch {
	case err == nil:
		h.emptied = true
	case errors.Is(err, errAbsent) && h.asked:
		h.emptied, h.cleared = true, true // perhaps by somebody else: L is not ours
	case errors.Is(err, errAbsent):
		h.lose()
		return h.lock.lost("remove our entry")
	case unclear(err):
		h.asked = true
	}
	if h.emptied {
		return nil
	}
	return err
}

// removeLock removes L, which is empty and ours. After an unclear answer it may be
// somebody else's already.
func (h *hold) removeLock(ctx context.Context) error {
	if h.cleared {
		return h.isCleared(ctx)
	}
	err := h.dir.Rmdir(ctx, h.lock.lock())
	switch {
	case err == nil:
		return nil
	case refused(err):
		h.cleared = true
		if orphan := h.isCleared(ctx); orphan != nil {
			return errors.Join(h.lock.fail("remove the lock directory", err), orphan)
		}
		return nil
	case unclear(err):
		h.cleared = true
		return h.isCleared(ctx)
	}
	return h.lock.fail("remove the lock directory", err)
}

// isCleared reports nil if L is gone, or has a new holder.
func (h *hold) isCleared(ctx context.Context) error {
	there, err := h.lock.contains(ctx, h.dir, ".", h.lock.Name)
	if err != nil {
		return h.lock.fail("look whether the lock directory is gone", err)
	}
	if !there {
		return nil
	}
	names, err := h.dir.List(ctx, h.lock.lock())
	if err != nil && !refused(err) {
		return h.lock.fail("look whether the lock directory is gone", err)
	}
	if slices.ContainsFunc(names, func(name string) bool { _, ok := parseEntry(name); return ok }) {
		return nil
	}
	if len(names) > 0 {
		return &backend.Error{Code: protocol.CannotCreate, Lock: h.lock.Address, Op: "remove the lock directory",
			Err: fmt.Errorf("what is in it is not ours, such as %s: %w", shown(names[0]), backend.ErrStays), Hint: "remove it if nobody needs it"}
	}
	return h.lock.orphaned("remove the lock directory")
}

var _ backend.Hold = (*hold)(nil)
