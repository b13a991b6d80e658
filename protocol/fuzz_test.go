package protocol

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzReader: whatever comes out of a helper's pipe is read to its end, line by line, and each
// line that is read is exactly one that came.
func FuzzReader(f *testing.F) {
	long := strings.Repeat("x", MaxLine)
	for _, s := range []string{"", "\n", "OK a=b\nLOST", "OK a=" + long + "\nRELEASED held_ms=1\n", "OK\r\nOK\n", "\x00\n\xff\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		came := strings.SplitAfter(s, "\n")
		r := NewReader(strings.NewReader(s))
		for range len(came) + len(s)/MaxLine + 1 {
			l, err := r.Read()
			switch {
			case err == io.EOF, err == io.ErrUnexpectedEOF:
				return
			case errors.Is(err, ErrMalformed):
				continue
			case err != nil:
				t.Fatalf("%q: %v", s, err)
			}
			out, err := l.Format()
			if err != nil || !strings.Contains(s, out) {
				t.Fatalf("%q: read %q, %v", s, out, err)
			}
		}
		t.Fatalf("%q has no end", s)
	})
}

// FuzzMessages: an OK or ERR line that is read and printed again is the same.
func FuzzMessages(f *testing.F) {
	for _, s := range []string{
		"OK proto=1 id=a token=18446744073709551615 mode=shared waited_ms=0 lease_ms=1000 lock=local:/x",
		"OK proto=1 token=-1 waited_ms=1 lease_ms=1", "OK proto=01", "OK proto=1 waited_ms=4611686018427 lease_ms=4611686018428",
		"ERR code=held holder=x user=%00 host=%E2%80%AE pid=-1 age_ms=99999999999999999999 heartbeat_ms=+1 text=x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := Parse(s)
		if err != nil {
			return
		}
		if g, err := ParseGrant(l); err == nil {
			if back, err := ParseGrant(g.Line()); err != nil || !reflect.DeepEqual(back, g) || g.Waited < 0 || g.Lease < 0 {
				t.Errorf("%q: %+v became %+v, %v", s, g, back, err)
			}
		} else if !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %v", s, err)
		}
		h := ParseHolder(l)
		if back := ParseHolder(h.Append(Line{Word: WordErr})); back != h || h.Age < 0 || h.Heartbeat < 0 {
			t.Errorf("%q: %+v became %+v", s, h, back)
		}
	})
}

// FuzzCleanText: what people are shown moves no cursor, and is no longer than it may
// be. Clean text stays as it is.
func FuzzCleanText(f *testing.F) {
	f.Add("a\x1b[2J\xff\u0085\u202e", uint16(50))
	f.Add(strings.Repeat("\u00e9", 100), uint16(3))
	f.Fuzz(func(t *testing.T, s string, most uint16) {
		most = max(most, uint16(len("...")))
		c := CleanText(s, int(most))
		if len(c) > int(most) || !utf8.ValidString(c) || strings.ContainsFunc(c, IsControl) {
			t.Errorf("%q became %q", s, c)
		}
		if again := CleanText(c, int(most)); again != c {
			t.Errorf("%q became %q", c, again)
		}
		if l := (Line{Word: WordErr, Text: c}); c != "" {
			if _, err := l.Format(); err != nil && len(c) < MaxLine-len("ERR text=\n") {
				t.Errorf("%q: %v", c, err)
			}
		}
	})
}
