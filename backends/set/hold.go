package set

import (
	"context"
	"errors"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/member"
	"locksmith/backends/owner"
)

// hold is a set that is held.
type hold struct {
	members []*member.Member // each lock once
	ids     []string         // ids and tokens are in the order given, in which a lock may come twice
	tokens  []uint64
	// tenders are the locks' own holds. They are kept apart from the members, because a Tend that
	// hangs is left behind, and nothing else waits for it.
	tenders []backend.Hold
}

func newHold(members, given []*member.Member) *hold {
	h := &hold{members: members}
	for _, m := range given {
		h.ids, h.tokens = append(h.ids, m.Hold.ID()), append(h.tokens, m.Hold.Token())
	}
	for _, m := range members {
		h.tenders = append(h.tenders, m.Hold)
	}
	return h
}

// ID implements backend.Hold. It returns the ids of the locks in the order given, separated by
// commas.
func (h *hold) ID() string { return strings.Join(h.ids, ",") }

// Token implements backend.Hold. A set has several tokens (see Tokens).
func (h *hold) Token() uint64 { return 0 }

// Tokens implements backend.SeveralHold.
func (h *hold) Tokens() []uint64 { return h.tokens }

// Chosen implements backend.SeveralHold.
func (h *hold) Chosen() int { return 0 }

// Confirmed implements backend.SeveralHold. A set is as old as the lock that was confirmed first.
func (h *hold) Confirmed() time.Duration {
	first := h.members[0].Confirmed
	for _, m := range h.members {
		first = min(first, m.Confirmed)
	}
	return first
}

// Holds implements backend.SeveralHold.
func (h *hold) Holds() []backend.Hold { return h.tenders }

// Heartbeat implements backend.Hold for all locks of the set.
func (h *hold) Heartbeat(ctx context.Context) error { return heartbeats(ctx, h.members) }

// Release implements backend.Hold. If it fails, it may be called again. Locks that were released
// stay so.
func (h *hold) Release(ctx context.Context) error {
	return worst(member.Each(h.members, func(m *member.Member) error { return m.Release(ctx) }))
}

// Note implements backend.SeveralHold. It returns the note of the lock that is gone. It asks one
// lost lock after the other, because there is mostly just one.
func (h *hold) Note(ctx context.Context) (*owner.Note, error) {
	var errs error
	for _, m := range h.members {
		note, err := m.Note(ctx)
		if err == nil && note != nil {
			return note, nil
		}
		errs = errors.Join(errs, err)
	}
	return nil, errs
}

// Tend implements backend.Hold for all locks of the set.
func (h *hold) Tend(ctx context.Context) error {
	return errors.Join(member.Each(h.tenders, func(t backend.Hold) error { return t.Tend(ctx) })...)
}

// renew sends heartbeats for the members that were last confirmed before the given time.
func renew(ctx context.Context, members []*member.Member, before time.Duration) error {
	var late []*member.Member // mostly empty, though a large set asks before each of its locks
	for _, m := range members {
		if m.Confirmed < before {
			late = append(late, m)
		}
	}
	return heartbeats(ctx, late)
}

// heartbeats sends one for each member. A loss is told whatever the other members say, and
// without waiting for them, because somebody else may have that lock already.
func heartbeats(ctx context.Context, members []*member.Member) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := member.Each(members, func(m *member.Member) error {
		err := m.Heartbeat(ctx)
		if errors.Is(err, backend.ErrGone) {
			cancel()
		}
		return err
	})
	for _, err := range errs {
		if errors.Is(err, backend.ErrGone) {
			return err
		}
	}
	return worst(errs)
}

// worst returns the error that decides what a release does next: first an error after which it
// tries again, then one that calls for a person, then a loss.
func worst(errs []error) error {
	var stays, gone error
	for _, err := range errs {
		switch {
		case err == nil:
		case errors.Is(err, backend.ErrStays):
			stays = err
		case errors.Is(err, backend.ErrGone):
			gone = err
		default:
			return err
		}
	}
	if stays != nil {
		return stays
	}
	return gone
}
