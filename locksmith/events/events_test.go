package events

import (
	"bytes"
	"errors"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// all has one event of each kind, with everything it can have.
func all() []Event {
	e := Event{
		Time: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), Boot: 81234567 * time.Microsecond, Clock: "boot/time:[1]",
		Locks: []string{"nfs:/srv/a b<&>\"é", "local:/b"}, Host: "web3", PID: 4242, Mode: "exclusive", Command: "sh",
	}
	with := func(k Kind, more func(*Event)) Event {
		next := e
		next.Kind = k
		more(&next)
		return next
	}
	return []Event{
		with(Waiting, func(e *Event) { e.Holder = &Holder{ID: "x", User: "alice", Host: "db1", PID: 7} }),
		with(Acquired, func(e *Event) { e.ID, e.Token, e.Waited = "y", 1<<64-1, 12042*time.Microsecond }),
		with(Late, func(e *Event) { e.Late, e.Text = time.Second, "server says no" }),
		with(Lost, func(e *Event) { e.Code, e.Text = "expired", "too late" }),
		with(Released, func(e *Event) { e.Held, e.Release = time.Hour, time.Microsecond }),
		with(GaveUp, func(e *Event) { e.Code, e.Text, e.Waited = "timeout", "held by alice", 0 }),
	}
}

// bare has of each kind what no event of it goes without.
func bare() []Event {
	some := all()
	for i := range some {
		e := &some[i]
		e.Clock, e.Command, e.Token, e.Holder = "", "", 0, nil
		if e.Kind == Late {
			e.Text = ""
		}
	}
	return some
}

func format(t testing.TB, e Event) string {
	t.Helper()
	line, err := e.Format()
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

func TestFormat(t *testing.T) {
	const want = `{"time":"2026-01-02T03:04:05.000006Z","boot_ms":81234.567,"clock":"boot/time:[1]","event":"acquired",` +
		`"locks":["nfs:/srv/a b<&>\"é","local:/b"],"host":"web3","pid":4242,"mode":"exclusive","command":"sh",` +
		`"id":"y","token":18446744073709551615,"waited_ms":12.042}` + "\n"
	if got := format(t, all()[1]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRoundTrip(t *testing.T) {
	for _, e := range slices.Concat(all(), bare()) {
		line := format(t, e)
		back, err := Parse([]byte(line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if !reflect.DeepEqual(back, e) {
			t.Errorf("%#v came back as %#v", e, back)
		}
		if again := format(t, back); again != line {
			t.Errorf("%s became %s", line, again)
		}
	}
}

func TestParseTakes(t *testing.T) {
	want := all()[4]
	line := format(t, want)
	for name, s := range map[string]string{
		"no line feed":  strings.TrimSpace(line),
		"unknown keys":  strings.Replace(line, "{", `{"later":{"a":[1]},"Time":0,`, 1),
		"spaces":        strings.ReplaceAll(line, `":`, `": `),
		"another order": strings.Replace(strings.Replace(line, `"pid":4242,`, "", 1), "{", `{"pid":4242,`, 1),
		"an escape":     strings.Replace(line, "web3", `\u0077eb3`, 1),
		"zeros":         strings.Replace(line, "81234.567", "81234.567", 1),
	} {
		if e, err := Parse([]byte(s)); err != nil || !reflect.DeepEqual(e, want) {
			t.Errorf("%s: got %v, %v", name, e, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	line := format(t, all()[4])
	change := func(from, to string) string {
		if !strings.Contains(line, from) {
			t.Fatalf("%s has no %s", line, from)
		}
		return strings.Replace(line, from, to, 1)
	}
	for name, s := range map[string]string{
		"empty":                "",
		"not an object":        "[]",
		"cut short":            line[:len(line)/2],
		"two objects":          line + line,
		"something after it":   strings.TrimSpace(line) + "x",
		"not UTF-8":            change("web3", "\xff"),
		"a key twice":          change("{", `{"pid":1,`),
		"no time":              change(`"time"`, `"times"`),
		"no lock":              change(`["nfs:/srv/a b<&>\"é","local:/b"]`, `[]`),
		"a lock without name":  change(`"local:/b"`, `""`),
		"a lock that is null":  change(`"local:/b"`, `null`),
		"no host":              change(`"host":"web3",`, ""),
		"host is null":         change(`"web3"`, `null`),
		"host is a number":     change(`"web3"`, `3`),
		"pid 0":                change("4242", "0"),
		"pid -1":               change("4242", "-1"),
		"pid is a string":      change("4242", `"4242"`),
		"pid is a fraction":    change("4242", "4242.5"),
		"unknown event":        change("released", "Released"),
		"unknown mode":         change("exclusive", "alone"),
		"time with a zone":     change("000006Z", "000006+01:00"),
		"time in seconds":      change("05.000006Z", "05Z"),
		"no such day":          change("2026-01-02", "2026-02-30"),
		"negative reading":     change("81234.567", "-1"),
		"reading in exponents": change("81234.567", "8e4"),
		"reading too precise":  change("81234.567", "81234.5678"),
		"reading too long":     change("81234.567", "1234567890123"),
		"another's key":        change(`"held_ms"`, `"token":1,"held_ms"`),
		"release before hold":  change(`"held_ms":3600000`, `"held_ms":0`),
		"too long":             change("web3", strings.Repeat("x", MaxLine)),
	} {
		if e, err := Parse([]byte(s)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: got %v, %v", name, e, err)
		}
	}
}

func TestFormatRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*Event){
		"no kind":         func(e *Event) { e.Kind = "" },
		"no lock":         func(e *Event) { e.Locks = nil },
		"no pid":          func(e *Event) { e.PID = 0 },
		"no mode":         func(e *Event) { e.Mode = "" },
		"negative time":   func(e *Event) { e.Waited = -1 },
		"negative holder": func(e *Event) { e.Holder = &Holder{PID: -1} },
		"no code":         func(e *Event) { e.Kind = Lost },
		"too long":        func(e *Event) { e.Host = strings.Repeat("x", MaxLine) },
	} {
		e := all()[0]
		spoil(&e)
		if line, err := e.Format(); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: got %s, %v", name, line, err)
		}
	}
}

func TestRead(t *testing.T) {
	good := format(t, all()[1])
	file := good + "\n" + good[:40] + good + strings.Repeat("x", 3*MaxLine) + "\n" + good + good[:len(good)-1]
	var lines []int
	events := 0
	for e, err := range Read(strings.NewReader(file)) {
		var line *LineError
		switch {
		case err == nil && reflect.DeepEqual(e, all()[1]):
			events++
		case errors.As(err, &line) && errors.Is(err, ErrMalformed):
			lines = append(lines, line.Line)
		default:
			t.Errorf("got %v, %v", e, err)
		}
	}
	if events != 2 || !slices.Equal(lines, []int{3, 4, 6}) {
		t.Errorf("%d events, and no events in lines %v", events, lines)
	}
}

func TestReadFails(t *testing.T) {
	broken := errors.New("broken")
	var last error
	n := 0
	for _, err := range Read(io.MultiReader(strings.NewReader("{}\n"), iotest.ErrReader(broken))) {
		n, last = n+1, err
	}
	if n != 2 || !errors.Is(last, broken) {
		t.Errorf("%d lines, the last is %v", n, last)
	}
}

func FuzzParse(f *testing.F) {
	for _, e := range slices.Concat(all(), bare()) {
		f.Add([]byte(format(f, e)))
	}
	f.Add([]byte(`{"time":"2026-01-02T3:04:05.000000Z","boot_ms":1.10,"event":"waiting","locks":["\ud800"],"host":"","pid":1,"mode":"shared","holder":{}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := Parse(line)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("not ErrMalformed: %v", err)
			}
			return
		}
		// A line of a Writer's comes back byte for byte; any other settles after one round.
		once, err := e.Format()
		if err != nil {
			return // escapes may lengthen it past the limit
		}
		again, err := Parse(once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice, _ := again.Format(); !bytes.Equal(twice, once) {
			t.Fatalf("%s became %s", once, twice)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(format(f, all()[0]) + "{}\n\n" + format(f, all()[3])))
	f.Add([]byte(strings.Repeat("x", MaxLine) + "\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		n := 0
		for range Read(bytes.NewReader(file)) {
			n++
		}
		if lines := bytes.Count(file, []byte{'\n'}) + 1; n > lines {
			t.Fatalf("%d events in %d lines", n, lines)
		}
	})
}

// read returns the events of a file, all of whose lines must be some.
func read(t *testing.T, path string) []Event {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var found []Event
	for e, err := range Read(f) {
		if err != nil {
			t.Error(err)
		}
		found = append(found, e)
	}
	return found
}
