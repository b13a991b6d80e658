package cli

import (
	"context"
	"errors"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/shelf"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/cli/request"
	"locksmith/cmd/locksmith/cli/show"
	"locksmith/locksmith"
	"locksmith/locksmith/events"
	"locksmith/protocol"
)

// A breakRecord says who broke a participant, and why. It is an event, and also a note beside
// the lock, if the lock can keep one, for the holder that lost it.
type breakRecord struct {
	event events.Event
	note  owner.Note
	kept  bool  // the note is beside the lock
	err   error // why it is not there, though it should be
}

// record is called right after the break, so that the holder that lost the lock finds the note.
func (b *breaking) record(ctx context.Context, p show.Participant) breakRecord {
	n := owner.Note{ID: p.ID, Lease: p.Lease, User: request.UserName(), Host: owner.Here().Host, At: time.Now().UTC().Truncate(time.Second),
		Forced: b.force, Reason: protocol.CleanText(b.reason, owner.MaxReason)}
	r := breakRecord{event: b.event(p, n), note: n}
	keeper, keeps := b.backend.(shelf.Keeper)
	// A waiter that was broken has lost nothing, and goes on with a new id.
	if !keeps || p.Waits || !owner.IsID(n.ID) || n.Lease < owner.MinLease {
		return r
	}
	_, r.err = withDeadline(ctx, b.address, "keep a note of who broke it", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, shelf.KeepNote(ctx, keeper, backend.Name(b.address), n)
	})
	if errors.Is(r.err, errors.ErrUnsupported) {
		r.err = nil
		return r
	}
	r.kept = r.err == nil
	return r
}

// tellRecord tells what was put down, and writes the event. The break is done by now, so a
// failure here is told, and no more.
func (b *breaking) tellRecord(ctx context.Context, r breakRecord) {
	b.result.Noted = r.kept
	switch {
	case r.err != nil:
		report(r.err)
	case r.kept:
		b.tell("%s: kept a note beside the lock: %s\n", show.Text(b.address), r.note)
	case b.reason != "" && b.events == (flags.Events{}):
		b.tell("%s: the reason is not kept: this lock has no place for it, and there is no --events\n", show.Text(b.address))
	}
	_, err := withDeadline(ctx, b.address, "write down the event", func(context.Context) (struct{}, error) {
		return struct{}{}, b.events.Write(r.event)
	})
	if err != nil {
		report(&backend.Error{Code: protocol.Config, Lock: b.address, Op: "write down the event", Err: err,
			Hint: "the lock is broken all the same; name a file with --events that may be written"})
	}
}

// event is what --events tells of the break.
func (b *breaking) event(p show.Participant, n owner.Note) events.Event {
	e := events.Event{Kind: events.Broken, Locks: []string{b.address}, Mode: "exclusive", User: n.User, Forced: &n.Forced, Reason: n.Reason, Why: n.String()}
	if p.Record != nil && p.Record.Mode == "shared" {
		e.Mode = "shared"
	}
	e.Holder = locksmith.HolderOf(p.Holder)
	return locksmith.Stamped(e, b.clock, owner.Here())
}
