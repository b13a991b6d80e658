package owner

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"locksmith/protocol"
)

// A Note says who broke an acquisition by hand. It stays beside the lock, for the holder that
// lost the lock and for people. No decision depends on it. Its text form is one line in the
// protocol's grammar:
//
//	BROKEN v=1 id=… user=alice host=web1 at=2026-01-02T03:04:05Z forced=yes text=why, in words
type Note struct {
	ID     string        // of the acquisition that was broken
	Lease  time.Duration // of that acquisition: its holder may not know of the loss for so long
	User   string        // who broke it
	Host   string        // where
	At     time.Time     // by that host's clock; whole seconds
	Forced bool          // nobody checked whether the holder lived
	Reason string
}

// MaxNotes is how many notes stay beside a lock. Whoever adds a note removes those above that
// number.
const MaxNotes = 8

// MaxReason limits the reason in bytes, and maxName the other texts. Some file systems store no
// more than a kilobyte of a note.
const (
	MaxReason = 200
	maxName   = 64
)

const (
	noteWord = "BROKEN"
	// NoteVersion is the version of notes.
	NoteVersion = "1"
)

// Name is the part of a note that is in its file's name, after a prefix. The holder that lost the
// lock can build it from its own lease and id.
func (n Note) Name() string {
	return strconv.FormatInt(n.Lease.Milliseconds(), 10) + "-" + n.ID
}

// ParseNoteName parses what Name returned, and nothing else.
func ParseNoteName(name string) (Note, bool) {
	digits, id, _ := strings.Cut(name, "-")
	lease, ok := ParseLease(digits)
	if !ok {
		return Note{}, false
	}
	n := Note{ID: id, Lease: lease}
	return n, IsID(id) && n.Name() == name
}

// Format returns the note's line without a line feed.
func (n Note) Format() (string, error) {
	forced := "no"
	if n.Forced {
		forced = "yes"
	}
	l := protocol.Line{Word: noteWord, Text: protocol.CleanText(n.Reason, MaxReason)}.
		With("v", NoteVersion).
		With("id", n.ID).
		With("user", protocol.CleanText(n.User, maxName)).
		With("host", protocol.CleanText(n.Host, maxName)).
		With("at", n.At.UTC().Format(time.RFC3339)).
		With("forced", forced)
	line, err := l.Format()
	return strings.TrimSuffix(line, "\n"), err
}

// ParseNote adds the contents of a note's line to what its name says. It is not ok if the line is
// torn, of another version, or about another acquisition. Anybody who may write beside the lock
// may have written the note, so ParseNote cleans its texts.
func ParseNote(named Note, text string) (n Note, ok bool) {
	l, err := protocol.Parse(text)
	at, err2 := time.Parse(time.RFC3339, l.Value("at"))
	forced := l.Value("forced")
	if err != nil || err2 != nil || l.Word != noteWord || l.Value("v") != NoteVersion || l.Value("id") != named.ID || forced != "yes" && forced != "no" ||
		at.UTC().Format(time.RFC3339) != l.Value("at") { // refuses a year that JSON cannot express
		return Note{}, false
	}
	n = named
	n.User, n.Host = protocol.CleanText(l.Value("user"), maxName), protocol.CleanText(l.Value("host"), maxName)
	n.At, n.Forced, n.Reason = at.UTC().Truncate(time.Second), forced == "yes", protocol.CleanText(l.Text, MaxReason)
	return n, true
}

// String describes the note for people: "broken by alice on web1 at 2026-01-02T03:04:05Z, forced:
// the host is gone".
func (n Note) String() string {
	text := fmt.Sprintf("broken by %s on %s at %s", cmp.Or(n.User, "?"), cmp.Or(n.Host, "?"), n.At.UTC().Format(time.RFC3339))
	if n.Forced {
		text += ", forced"
	}
	if n.Reason != "" {
		text += ": " + n.Reason
	}
	return text
}
