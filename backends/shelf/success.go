package shelf

import (
	"context"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// A success has a number, and the last is the one with the greatest. A holder that adds a success
// removes the earlier ones. A request of a holder that has lost the lock may be executed late: then it
// adds a success whose number counts no longer, unless the place keeps but one, which it replaces.

const (
	successName = "done" // unless the kind has names of its own
	successWord = "SUCCESS"
)

// Newest returns the last success among some slips; its number is 0 if there is none.
func Newest(all []Slip) (newest Slip) {
	for _, s := range all {
		if s.Number > newest.Number && !s.Void {
			newest = s
		}
	}
	return newest
}

// Last returns the last success of the lock that h holds exclusively, or nil if none is on record.
func Last(ctx context.Context, k Keeper, h backend.Hold) (success *backend.Success, err error) {
	err = k.OnShelf(ctx, h, func(s Shelf) error {
		now, err := s.Now(ctx)
		if err != nil {
			return err
		}
		all, err := s.List(ctx)
		if err == nil {
			success, err = last(ctx, s, all, now)
		}
		return err
	})
	return success, err
}

// last returns the last of the successes that were listed, or nil.
func last(ctx context.Context, s Shelf, all []Slip, now time.Time) (*backend.Success, error) {
	newest := Newest(all)
	if newest.Number == 0 {
		return nil, nil
	}
	if err := s.Read(ctx, "look at the last success", &newest); err != nil {
		return nil, err
	}
	if newest.Host == "" {
		newest.Host = hostOf(newest.Text)
	}
	return &backend.Success{Ago: now.Sub(newest.At), Host: newest.Host, By: newest.By}, nil
}

// Record records a success of now, after a heartbeat of h. If that heartbeat finds that the lock is
// gone, nothing is recorded. Successes of later holders stay: a holder that was stopped for long may
// come after them.
func Record(ctx context.Context, k Keeper, h backend.Hold) error {
	if err := h.Heartbeat(ctx); err != nil {
		return err
	}
	text, err := protocol.Line{Word: successWord}.With("v", "1").With("host", owner.Here().Host).Format()
	if err != nil {
		return err
	}
	return k.OnShelf(ctx, h, func(s Shelf) error {
		ours := Slip{Name: successName, Number: 1, Text: text}
		if err := s.Write(ctx, "record the success", &ours); err != nil {
			return err
		}
		all, err := s.List(ctx)
		for _, old := range all {
			if err == nil && old.Note.ID == "" && old.Name != ours.Name && (old.Number <= ours.Number || old.Void) {
				_ = s.Remove(ctx, "remove an older success", old) // ours is on record; the next one tries again
			}
		}
		return nil
	})
}

// IsSuccess reports whether a text is that of a success, or begins like one.
func IsSuccess(text string) bool { return strings.HasPrefix(text, successWord+" ") }

// BeginsSuccess reports whether a text is the beginning of that of a success.
func BeginsSuccess(text string) bool { return strings.HasPrefix(successWord+" ", text) }

// ParseSuccess reads the text of a success, and says whose it is.
func ParseSuccess(text string) (host string, ok bool) {
	line, err := protocol.Parse(text)
	return line.Value("host"), err == nil && line.Word == successWord && line.Value("v") == "1"
}

// hostOf reads the text of a success, which may also be the record of its holder.
func hostOf(text string) string {
	if host, ok := ParseSuccess(text); ok {
		return host
	}
	r, _ := owner.ParseRecord(strings.TrimSuffix(text, "\n") + "\n")
	return r.Place.Host
}
