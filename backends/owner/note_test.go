package owner

import (
	"strings"
	"testing"
	"time"
)

const noteID = "52b5c646f8a94c0e9a1f0f4b7d1c2e3a"

func someNote() Note {
	return Note{ID: noteID, Lease: time.Minute, User: "al ice", Host: "web1", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Forced: true, Reason: "the host is gone"}
}

// TestNoteFormat: other versions read a note beside a lock, so each byte of it stays as it is.
func TestNoteFormat(t *testing.T) {
	n := someNote()
	const want = "BROKEN v=1 id=" + noteID + " user=al%20ice host=web1 at=2026-01-02T03:04:05Z forced=yes text=the host is gone"
	text, err := n.Format()
	if err != nil || text != want {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
	if n.Name() != "60000-"+noteID {
		t.Errorf("the name of a note is %q, want %q", n.Name(), "60000-"+noteID)
	}
	named, ok := ParseNoteName(n.Name())
	if !ok || named != (Note{ID: noteID, Lease: time.Minute}) {
		t.Errorf("from its name a note is read as %+v (%v), want the id and the lease of a minute", named, ok)
	}
	if back, ok := ParseNote(named, text); !ok || back != n {
		t.Errorf("the note %+v is read back as %+v (%v)", n, back, ok)
	}
	const says = "broken by al ice on web1 at 2026-01-02T03:04:05Z, forced: the host is gone"
	if n.String() != says {
		t.Errorf("a note says %q, want %q", n, says)
	}
	n.Forced, n.Reason, n.User = false, "", ""
	if text := n.String(); text != "broken by ? on web1 at 2026-01-02T03:04:05Z" {
		t.Errorf("a note without user and reason says %q, want that it was broken by ?", text)
	}
	if text, err := n.Format(); err != nil || !strings.HasSuffix(text, " forced=no") {
		t.Errorf("the note is written as %q (%v), want forced=no at the end", text, err)
	}
}

// TestNoteBounds: the longest note fits in a symbolic link on every file system.
func TestNoteBounds(t *testing.T) {
	n := someNote()
	n.User, n.Host, n.Reason = strings.Repeat("é", 500), strings.Repeat(" ", 500), strings.Repeat("\x1bé\n", 500)
	text, err := n.Format()
	if err != nil || len(text) > 1000 || strings.ContainsAny(text, "\x1b\n") {
		t.Errorf("a note with a long reason has %d bytes, with the error %v: %q; want 1000 at most, on one line", len(text), err, text)
	}
	if _, ok := ParseNote(n, text); !ok {
		t.Errorf("a note that we wrote cannot be read: %q", text)
	}
}

// TestHostileNotes: whoever may write beside the lock may write any note.
func TestHostileNotes(t *testing.T) {
	named := Note{ID: noteID, Lease: time.Minute}
	good, err := someNote().Format()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"nothing":             "",
		"torn":                good[:50],
		"of the year 10000":   strings.Replace(good, "2026-01-02T03:04:05Z", "9999-12-31T23:59:59-12:00", 1),
		"of the year before":  strings.Replace(good, "2026-01-02T03:04:05Z", "0000-01-01T00:00:00+12:00", 1),
		"of another id":       strings.Replace(good, noteID, strings.Repeat("0", 32), 1),
		"of another version":  strings.Replace(good, "v=1", "v=2", 1),
		"another word":        strings.Replace(good, "BROKEN", "LOCK", 1),
		"no time":             strings.Replace(good, "2026", "then", 1),
		"forced perhaps":      strings.Replace(good, "forced=yes", "forced=perhaps", 1),
		"control characters":  strings.Replace(good, "the host", "the\x1b[2Jhost", 1),
		"invalid UTF-8":       strings.Replace(good, "the host", "the\xffhost", 1),
		"too long for a line": good + strings.Repeat("x", 5000),
	} {
		if n, ok := ParseNote(named, text); ok {
			t.Errorf("a note with %s is read as %+v", name, n)
		}
	}
	n, ok := ParseNote(named, strings.Replace(good, "al%20ice", "%1B%5B2J%E2%80%AEalice"+strings.Repeat("a", 500), 1)+strings.Repeat("!", 1000))
	if ok {
		t.Errorf("an escape of what need not be escaped: %+v", n)
	}
	n, ok = ParseNote(named, strings.Replace(good, "al%20ice", "%1B[2J%E2%80%AEalice"+strings.Repeat("a", 500), 1)+strings.Repeat("!", 1000))
	if !ok || len(n.String()) > 500 || strings.ContainsAny(n.String(), "\x1b\u202e") {
		t.Errorf("a hostile note is read: %v, and says %q, of %d bytes; want it read, clean, and 500 bytes at most", ok, n, len(n.String()))
	}
	for _, name := range []string{"", "60000", "60000-", "60000-x", "060000-" + noteID, "-1-" + noteID, "1-" + noteID, "99999999999999-" + noteID, "60000-" + noteID + ".", "60000-" + strings.ToUpper(noteID)} {
		if n, ok := ParseNoteName(name); ok {
			t.Errorf("the name %q, which we never give, is read as that of the note %+v", name, n)
		}
	}
}
