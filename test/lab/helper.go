package lab

import (
	"errors"
	"io"
	"os/exec"
	"time"

	"locksmith/protocol"
)

// A Helper is a process that tends a lock and speaks the protocol: locksmith hold.
type Helper struct{ *Process }

// Said is a line of a helper, with the time at which we read it.
type Said struct {
	protocol.Line
	At time.Time
}

// Hold starts a helper. It watches our end of its standard input.
func Hold(t T, cmd *exec.Cmd) *Helper {
	t.Helper()
	return &Helper{Start(t, cmd)}
}

// Next waits for the next line, which must be well-formed. After the last line the error is
// io.EOF.
func (h *Helper) Next() (Said, error) {
	l, err := h.Process.Next()
	if err != nil {
		return Said{}, err
	}
	if l.cut {
		return Said{}, io.ErrUnexpectedEOF
	}
	line, err := protocol.Parse(l.Text)
	return Said{line, l.At}, err
}

// Within waits for the next line, but only for d: a test may want that none comes.
func (h *Helper) Within(d time.Duration) (s Said, came bool) {
	h.t.Helper()
	select {
	case l, open := <-h.lines:
		line, err := protocol.Parse(l.Text)
		if !open || l.cut || err != nil {
			h.fail("its output ends, or %q: %v", l.Text, err)
		}
		return Said{line, l.At}, true
	case <-time.After(d):
		return Said{}, false
	}
}

// Says waits for the next line, which must have this word.
func (h *Helper) Says(word string) Said {
	h.t.Helper()
	s, err := h.Next()
	if err != nil {
		h.fail("want %s: %v", word, err)
	}
	if s.Word != word {
		h.fail("it says %s %v %q, want %s", s.Word, s.Fields, s.Text, word)
	}
	return s
}

// Held waits until the helper holds the lock.
func (h *Helper) Held() Said {
	h.t.Helper()
	return h.Says(protocol.WordOK)
}

// Release makes the helper release the lock and end, and returns its RELEASED line. It skips BEAT
// lines before that.
func (h *Helper) Release() Said {
	h.t.Helper()
	h.LetGo()
	for {
		switch s, err := h.Next(); {
		case err != nil:
			h.fail("want %s: %v", protocol.WordReleased, err)
		case s.Word == protocol.WordReleased:
			if s, err := h.Next(); !errors.Is(err, io.EOF) {
				h.fail("after its last line it says %s %q (%v)", s.Word, s.Text, err)
			}
			h.Exits(0)
			return s
		case s.Word != protocol.WordBeat:
			h.fail("it says %s %v %q, want %s", s.Word, s.Fields, s.Text, protocol.WordReleased)
		}
	}
}
