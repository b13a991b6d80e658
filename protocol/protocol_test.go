package protocol

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func FuzzLine(f *testing.F) {
	for _, s := range []string{
		"OK proto=1 id=a token=17 mode=exclusive waited_ms=12 lease_ms=60000 lock=local:/tmp/a%20b\n",
		"ERR code=held pid=42 text=held by alice@web3 a=b text=again\n",
		"RELEASED held_ms=0\n", "LOST code=gone text=\u00e9\n", "BEAT sent_ms=\n", "OK a=%\n", "OK a=%41\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := Parse(s)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("error is not ErrMalformed: %v", err)
			}
			return
		}
		out, err := l.Format()
		if err != nil {
			t.Fatalf("parsed %q but cannot print it: %v", s, err)
		}
		if want := strings.TrimSuffix(s, "\n") + "\n"; out != want {
			t.Fatalf("parse and print changed %q to %q", want, out)
		}
	})
}

func FuzzFields(f *testing.F) {
	f.Add("key", "value", "text")
	f.Add("a", "\x00\xff %", "")
	f.Fuzz(func(t *testing.T, key, value, text string) {
		l := Line{Word: "X", Text: text}.With(key, value)
		s, err := l.Format()
		if err != nil {
			return
		}
		back, err := Parse(s)
		if err != nil || !reflect.DeepEqual(l, back) {
			t.Fatalf("%#v printed as %q came back as %#v, %v", l, s, back, err)
		}
	})
}

func TestParseRefuses(t *testing.T) {
	for name, s := range map[string]string{
		"empty":                "",
		"lower-case word":      "ok a=b",
		"long word":            "ABCDEFGHIJKLMNOPQ",
		"no equals sign":       "OK a",
		"double space":         "OK  a=b",
		"trailing space":       "OK ",
		"bad key":              "OK A=b",
		"twice the same key":   "OK a=b a=c",
		"empty text":           "OK text=",
		"control byte in text": "OK text=a\x1b[31m",
		"C1 control in text":   "OK text=a\u009b31m",
		"override in text":     "OK text=a\u202eb",
		"isolate in text":      "OK text=a\u2067b",
		"text not UTF-8":       "OK text=\xff",
		"tab in value":         "OK a=b\tc",
		"needless escape":      "OK a=%41",
		"lower-case escape":    "OK a=%0a",
		"cut escape":           "OK a=%0",
		"two lines":            "OK a=b\nOK",
		"too long":             "OK a=" + strings.Repeat("x", MaxLine),
	} {
		if l, err := Parse(s); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: got %v, %v", name, l, err)
		}
	}
}

// TestValidKey: each byte at the edge of what a key is made of, and its neighbours.
func TestValidKey(t *testing.T) {
	long := strings.Repeat("k", 32)
	for key, valid := range map[string]bool{
		"a": true, "z": true, "`": false, "{": false, "A": false, "Z": false, "0": false, "_": false, "": false,
		"ka": true, "kz": true, "k`": false, "k{": false, "kA": false,
		"k0": true, "k9": true, "k/": false, "k:": false,
		"k_": true, "k.": true, "k-": true, "k,": false, "k=": false, "k\u00e9": false,
		"k_k": true, "k k": false,
		"text": false, "texts": true, long: true, long + "k": false,
	} {
		if ValidKey(key) != valid {
			t.Errorf("ValidKey(%q) is not %v", key, valid)
		}
	}
}

func TestFormatRefuses(t *testing.T) {
	for name, l := range map[string]Line{
		"word":      {Word: "ok"},
		"key text":  Line{Word: "OK"}.With("text", "x"),
		"same key":  Line{Word: "OK"}.With("a", "x").With("a", "y"),
		"text":      {Word: "OK", Text: "a\nb"},
		"too long":  Line{Word: "OK"}.With("a", strings.Repeat("\n", MaxLine/3)),
		"long text": {Word: "OK", Text: strings.Repeat("a", MaxLine)},
	} {
		if s, err := l.Format(); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: got %q, %v", name, s, err)
		}
	}
}

func TestReader(t *testing.T) {
	r := NewReader(strings.NewReader("OK a=b\nRELEASED held_ms=5\nLOS"))
	for _, want := range []string{"OK", "RELEASED"} {
		if l, err := r.Read(); err != nil || l.Word != want {
			t.Fatalf("got %v, %v, want %s", l, err, want)
		}
	}
	if _, err := r.Read(); err != io.ErrUnexpectedEOF {
		t.Errorf("cut line: got %v", err)
	}
	long := NewReader(strings.NewReader("OK a=" + strings.Repeat("x", 2*MaxLine) + "\n"))
	if _, err := long.Read(); !errors.Is(err, ErrMalformed) {
		t.Errorf("long line: got %v", err)
	}
	if _, err := NewReader(strings.NewReader("")).Read(); err != io.EOF {
		t.Errorf("no line: got %v", err)
	}
}

func TestGrantRoundTrip(t *testing.T) {
	one := Grant{ID: "x", Token: 17, Mode: "exclusive", Waited: 12 * time.Millisecond,
		Lease: time.Minute, Lock: "local:/tmp/with space\nand line feed"}
	several := one
	several.Token, several.Tokens, several.ID, several.Mode = 0, []uint64{17, 0, 5}, "x,y,z", "mixed"
	none := several
	none.Tokens = []uint64{0, 0}
	for _, g := range []Grant{one, several, none} {
		if s, back := throughLine(t, g); !reflect.DeepEqual(back, g) {
			t.Errorf("%q came back as %+v", s, back)
		}
	}
	for _, bad := range []string{"ERR code=held", "OK proto=2", "OK proto=1 token=-1", "OK proto=1 waited_ms=x lease_ms=1",
		"OK proto=1 locks=2 token=1 waited_ms=1 lease_ms=1", "OK proto=1 locks=x", "OK proto=1 locks=0",
		"OK proto=1 locks=99999999999", "OK proto=1 locks=1 token=x"} {
		l, err := Parse(bad)
		if err != nil {
			t.Fatal(err)
		}
		_, err = ParseGrant(l)
		if _, isNewer := errors.AsType[*NewerError](err); !errors.Is(err, ErrMalformed) || isNewer != (bad == "OK proto=2") {
			t.Errorf("%s: got %v", bad, err)
		}
	}
}

// throughLine writes a grant and reads it again.
func throughLine(t *testing.T, g Grant) (string, Grant) {
	t.Helper()
	s, err := g.Line().Format()
	if err != nil {
		t.Fatal(err)
	}
	l, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseGrant(l)
	if err != nil {
		t.Fatal(err)
	}
	return s, back
}

// TestLargeSetsGrantFits: the line of a set of any size has what a parent cannot do without.
func TestLargeSetsGrantFits(t *testing.T) {
	g := Grant{Mode: "shared"}
	for i := range 1000 {
		g.Tokens = append(g.Tokens, uint64(i%100))
		g.ID += strings.Repeat("f", 32) + ","
		g.Lock += "nfs:/shared/locks/some-name\n"
	}
	if _, back := throughLine(t, g); !slices.Equal(back.Tokens, g.Tokens) || back.ID != "" || back.Lock != "" {
		t.Errorf("came back as %+v", back)
	}
	g.Tokens, g.ID = []uint64{1, 2}, "x,y"
	if _, back := throughLine(t, g); back.ID != "x,y" || back.Lock != "" {
		t.Errorf("came back as %+v", back)
	}
}

func TestHolderRoundTrip(t *testing.T) {
	h := Holder{ID: "i", User: "alice", Host: "web3", PID: 4242, Age: time.Second, Heartbeat: time.Millisecond}
	if back := ParseHolder(h.Append(Line{Word: WordErr})); back != h {
		t.Errorf("got %+v", back)
	}
}

func TestCleanText(t *testing.T) {
	for _, s := range []string{"a\nb\x1b[2J\xff\u0085\u202e\u2066", strings.Repeat("\u00e9", 100)} {
		c := CleanText(s, 50)
		if len(c) > 50 || !cleanText(c) {
			t.Errorf("%q became %q", s, c)
		}
	}
	if c := CleanText("\u202egpj.\u2066x\u200f é", 50); c != "?gpj.?x? é" {
		t.Errorf("what turns the direction of writing became %q", c)
	}
}

// TestErrorText: errors that are joined stand in one line; a line feed of a name is none of theirs.
func TestErrorText(t *testing.T) {
	joined := errors.Join(errors.New("one"), fmt.Errorf("two\n: %w", errors.Join(errors.New("three"), errors.New("four"))))
	for err, want := range map[error]string{
		joined:                         "one; two?: three; four",
		fmt.Errorf("five: %w", joined): "five: one; two?: three; four",
		fmt.Errorf("six: %w: %w", io.EOF, joined): "six: EOF: one; two?: three; four",
		errors.New("a\nb"):                        "a?b",
	} {
		if got := CleanText(ErrorText(err), 100); got != want {
			t.Errorf("%q became %q, want %q", err, got, want)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for code, want := range map[Code]int{Usage: 64, Unreachable: 69, Internal: 70, CannotCreate: 73, Held: 75,
		Timeout: 75, Cancelled: 75, Permission: 77, Config: 78, Gone: 79, Expired: 79, Unreleased: 79, "other": 70} {
		if got := code.Exit(); got != want {
			t.Errorf("%s: exit %d, want %d", code, got, want)
		}
	}
}

// TestLongestLine: a line has MaxLine bytes at most, its line feed included, whether that is there
// or was cut off already. So what Parse accepts can be written again.
func TestLongestLine(t *testing.T) {
	longest := "OK a=" + strings.Repeat("x", MaxLine-len("OK a=\n"))
	for _, end := range []string{"", "\n"} {
		if _, err := Parse(longest + end); err != nil {
			t.Errorf("Parse refuses a line of %d bytes and %q: %v", len(longest), end, err)
		}
		if _, err := Parse(longest + "x" + end); !errors.Is(err, ErrMalformed) {
			t.Errorf("Parse of a line of %d bytes and %q gives the error %v, want ErrMalformed: with its line feed it has more than %d", len(longest)+1, end, err, MaxLine)
		}
	}
}
