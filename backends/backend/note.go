package backend

import (
	"context"

	"locksmith/backends/owner"
)

// A NoteKeeper is a Backend in whose place something stays beside the lock: there it keeps notes
// of who broke the lock by hand. Nothing depends on them when the lock is taken, kept or
// broken. Holders remove those of others, by Tend, when they have seen them for their lease.
type NoteKeeper interface {
	// KeepNote puts down a note of an acquisition that Break has just ended.
	KeepNote(ctx context.Context, n owner.Note) error
}

// A NotedHold is a Hold of whose end a note may tell.
type NotedHold interface {
	Hold
	// Note returns who broke the lock by hand, after a call that said ErrGone; nil: there is no
	// note of it. While the call hangs no other is made.
	Note(ctx context.Context) (*owner.Note, error)
}
