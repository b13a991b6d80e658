package events

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"locksmith/protocol"
)

// all has one event of each kind, for a set, with every member that it can have. It also has what
// differs for one lock, and for a set with different modes.
func all() []Event {
	e := Event{
		Time: Stamp{time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)}, Boot: In(81234567 * time.Microsecond), Clock: "boot/time:[1]",
		Locks: []string{"nfs:/srv/a b<&>\"é", "local:/b"}, Host: "web3", PID: 4242, Mode: "exclusive", Command: "sh",
	}
	one := func(e *Event) { e.Locks, e.Lock, e.Tokens = e.Locks[:1], "", nil }
	mix := func(e *Event) { e.Mode, e.Modes = "mixed", []string{"shared", "exclusive"} }
	with := func(k Kind, more func(*Event)) Event {
		next := e
		next.Kind = k
		more(&next)
		return next
	}
	return []Event{
		with(Waiting, func(e *Event) {
			e.Lock, e.Holder, e.Why = "local:/b", Holder{ID: "x", User: "alice", Host: "db1", PID: 7}, "held by alice"
		}),
		with(Acquired, func(e *Event) { e.ID, e.Tokens, e.Waited = "y,z", []uint64{1<<64 - 1, 0}, In(12042*time.Microsecond) }),
		with(Late, func(e *Event) { e.Late, e.Error = In(time.Second), "server says no" }),
		with(Lost, func(e *Event) { e.Code, e.Text = "expired", "too late" }),
		with(Released, func(e *Event) { e.Held, e.Release = In(time.Hour), In(time.Microsecond) }),
		with(GaveUp, func(e *Event) { e.Code, e.Text, e.Waited = "timeout", "held by alice", In(0) }),
		with(Waiting, func(e *Event) { mix(e); e.Lock = "local:/b" }),
		with(Acquired, func(e *Event) { mix(e); e.ID, e.Tokens, e.Waited = "y,z", []uint64{0, 7}, In(0) }),
		with(Acquired, func(e *Event) { mix(e); e.More, e.Tokens, e.Waited = 3, []uint64{1, 2}, In(0) }),
		with(Acquired, func(e *Event) { one(e); e.ID, e.Token, e.Waited = "y", 17, In(0) }),
		with(Acquired, func(e *Event) { one(e); e.More, e.Tokens, e.Waited = 1, []uint64{17}, In(0) }),
		with(Broke, func(e *Event) {
			e.Meta = map[string]string{"job": "night & day", "empty": ""}
			e.Lock, e.Holder, e.Why = "local:/b", Holder{ID: "x", User: "alice", Host: "db1", PID: 7}, "broke the lock of alice"
		}),
		with(Broken, func(e *Event) {
			one(e)
			e.Command, e.Holder, e.User, e.Forced = "", Holder{ID: "x", User: "alice", Host: "db1", PID: 7}, "bob", new(true)
			e.Reason, e.Why = "the host is gone", "broken by bob"
		}),
	}
}

// bare has an event of each kind with only the members that it must have.
func bare() []Event {
	some := all()
	for i := range some {
		e := &some[i]
		e.Clock, e.Command, e.Lock, e.Token, e.Tokens, e.Holder, e.Meta = "", "", "", 0, nil, Holder{}, nil
		if e.isSet() {
			e.ID = ""
		}
		e.Why, e.Error, e.User, e.Reason = "", "", "", ""
	}
	return some
}

// odd has texts that JSON escapes, and values that an event has only in memory.
func odd() []Event {
	some := all()[:6]
	for i := range some {
		e := &some[i]
		e.Locks = []string{"local:/\x00\x01\b\f\n\r\t\x1b\x7f\u0085\u2028\u2029\U0001f512", "local:/b\xff\\/'"}
		e.Boot, e.Time.Time = In(time.Duration(i)*1234500), e.Time.Add(time.Duration(i)*999999).In(time.FixedZone("there", 3600))
		e.Why, e.Error, e.Lock, e.Holder, e.Tokens = "", "", "", Holder{}, []uint64{0, 0}
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
		`"id":"y,z","tokens":[18446744073709551615,0],"waited_ms":12.042}` + "\n"
	if got := format(t, all()[1]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	const mixed = `"event":"waiting","locks":["nfs:/srv/a b<&>\"é","local:/b"],"host":"web3","pid":4242,` +
		`"mode":"mixed","modes":["shared","exclusive"],"command":"sh","lock":"local:/b"}` + "\n"
	if got := format(t, all()[6]); !strings.HasSuffix(got, mixed) {
		t.Errorf("got %s, want at its end %s", got, mixed)
	}
	const one = `"mode":"exclusive","command":"sh","id":"y","token":17,"waited_ms":0}` + "\n"
	if got := format(t, all()[9]); !strings.HasSuffix(got, one) {
		t.Errorf("got %s, want at its end %s", got, one)
	}
}

// TestRecordedLines: each byte of a line stays as it is, because files of events outlive the
// program that wrote them, and others read them.
func TestRecordedLines(t *testing.T) {
	var got strings.Builder
	for _, e := range slices.Concat(all(), bare(), odd()) {
		got.WriteString(format(t, e))
	}
	want, err := os.ReadFile("testdata/recorded.events")
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", &got, want)
	}
}

// TestLease: members that came later are left out where they are not known.
func TestLease(t *testing.T) {
	acquired, lost := all()[9], all()[3]
	acquired.Lease, lost.Silent = In(time.Minute), In(70*time.Second)
	for want, e := range map[string]Event{`"token":17,"lease_ms":60000,"waited_ms":0}`: acquired, `"text":"too late","silent_ms":70000}`: lost} {
		line := format(t, e)
		if !strings.HasSuffix(line, want+"\n") {
			t.Errorf("got %s, want at its end %s", line, want)
		}
		if back, err := Parse([]byte(line)); err != nil || !reflect.DeepEqual(back, e) {
			t.Errorf("%s came back as %+v, %v", line, back, err)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for _, e := range slices.Concat(all(), bare()) {
		line := format(t, e)
		back, err := Parse([]byte(line))
		if err != nil {
			t.Errorf("the line %s cannot be read back: %v", line, err)
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
		"unknown keys":  strings.Replace(line, "{", `{"later":{"a":[1]},`, 1),
		"spaces":        strings.ReplaceAll(line, `":`, `": `),
		"another order": strings.Replace(strings.Replace(line, `"pid":4242,`, "", 1), "{", `{"pid":4242,`, 1),
		"an escape":     strings.Replace(line, "web3", `\u0077eb3`, 1),
		"zeros":         strings.Replace(line, "81234.567", "81234.567000", 1),
		"exponents":     strings.Replace(line, "81234.567", "8.1234567e4", 1),
		"other events'": strings.Replace(line, `"held_ms"`, `"later":null,"held_ms"`, 1),
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
		"empty":               "",
		"not an object":       "[]",
		"cut short":           line[:len(line)/2],
		"two objects":         line + line,
		"something after it":  strings.TrimSpace(line) + "x",
		"not UTF-8":           change("web3", "\xff"),
		"no time":             change(`"time"`, `"times"`),
		"no lock":             change(`["nfs:/srv/a b<&>\"é","local:/b"]`, `[]`),
		"a lock without name": change(`"local:/b"`, `""`),
		"a lock that is null": change(`"local:/b"`, `null`),
		"host is a number":    change(`"web3"`, `3`),
		"pid 0":               change("4242", "0"),
		"pid -1":              change("4242", "-1"),
		"pid is a string":     change("4242", `"4242"`),
		"pid is a fraction":   change("4242", "4242.5"),
		"unknown event":       change("released", "Released"),
		"unknown mode":        change("exclusive", "alone"),
		"time with a zone":    change("000006Z", "000006+01:00"),
		"time in seconds":     change("05.000006Z", "05Z"),
		"no such day":         change("2026-01-02", "2026-02-30"),
		"negative reading":    change("81234.567", "-1"),
		"reading too long":    change("81234.567", "1234567890123"),
		"release before hold": change(`"held_ms":3600000`, `"held_ms":0`),
		"too long":            change("web3", strings.Repeat("x", protocol.MaxEvent)),
	} {
		if e, err := Parse([]byte(s)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: got %v, %v", name, e, err)
		}
	}
}

// TestParseLacks: without these members a line says nothing certain.
func TestParseLacks(t *testing.T) {
	for i, keys := range map[int]string{
		0: "time boot_ms event locks pid mode", 2: "late_ms", 3: "code", 4: "held_ms release_ms", 5: "waited_ms code", 6: "modes", 9: "id waited_ms", 12: "forced",
	} {
		line := format(t, all()[i])
		for key := range strings.FieldsSeq(keys) {
			spoiled := strings.Replace(line, `"`+key+`":`, `"other":`, 1)
			if e, err := Parse([]byte(spoiled)); spoiled == line || !errors.Is(err, ErrMalformed) {
				t.Errorf("%s: got %v, %v", spoiled, e, err)
			}
		}
	}
}

func TestFormatRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*Event){
		"no kind":         func(e *Event) { e.Kind = "" },
		"no lock":         func(e *Event) { e.Locks = nil },
		"no pid":          func(e *Event) { e.PID = 0 },
		"no mode":         func(e *Event) { e.Mode = "" },
		"negative time":   func(e *Event) { e.Waited = In(-time.Second) },
		"negative holder": func(e *Event) { e.Holder = Holder{PID: -1} },
		"no code":         func(e *Event) { e.Kind = Lost },
		"no id":           func(e *Event) { e.Kind, e.Waited, e.Locks, e.Lock = Acquired, In(0), e.Locks[:1], "" },
		"too long":        func(e *Event) { e.Host = strings.Repeat("x", protocol.MaxEvent) },
	} {
		e := all()[0]
		spoil(&e)
		if line, err := e.Format(); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: got %s, %v", name, line, err)
		}
	}
}

// TestParseRefusesSets: the lists of a set must be as long as its list of locks.
func TestParseRefusesSets(t *testing.T) {
	line := format(t, all()[7])
	for name, change := range map[string][2]string{
		"too few modes":      {`["shared","exclusive"]`, `["shared"]`},
		"too many modes":     {`["shared","exclusive"]`, `["shared","exclusive","shared"]`},
		"unknown mode":       {`["shared","exclusive"]`, `["shared","mixed"]`},
		"a mode is null":     {`["shared","exclusive"]`, `["shared",null]`},
		"no mode":            {`["shared","exclusive"]`, `[]`},
		"modes are a string": {`["shared","exclusive"]`, `"shared"`},
		"modes left out":     {`"modes":["shared","exclusive"],`, ``},
		"modes not mixed":    {`"mixed"`, `"shared"`},
		"too few tokens":     {`[0,7]`, `[7]`},
		"too many tokens":    {`[0,7]`, `[0,7,0]`},
		"no tokens":          {`[0,7]`, `[]`},
		"a token below 0":    {`[0,7]`, `[0,-7]`},
		"a token is a text":  {`[0,7]`, `[0,"7"]`},
		"token and tokens":   {`"tokens"`, `"token":7,"tokens"`},
		"token for several":  {`"tokens":[0,7]`, `"token":7`},
		"more below 0":       {`"host"`, `"more":-1,"host"`},
		"more than a set":    {`"host"`, `"more":9223372036854775807,"host"`},
		"no lock":            {`["nfs:/srv/a b<&>\"é","local:/b"]`, `[]`},
		"one lock with more": {`["nfs:/srv/a b<&>\"é","local:/b"]`, `["local:/b"]`},
	} {
		if !strings.Contains(line, change[0]) {
			t.Fatalf("%s: %s has no %s", name, line, change[0])
		}
		if e, err := Parse([]byte(strings.Replace(line, change[0], change[1], 1))); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: got %v, %v", name, e, err)
		}
	}
	other := strings.Replace(format(t, all()[6]), `"lock":"local:/b"`, `"lock":"local:/c"`, 1)
	if e, err := Parse([]byte(other)); !errors.Is(err, ErrMalformed) {
		t.Errorf("waiting for a lock of another set: got %v, %v", e, err)
	}
}

// TestLargeSets: a set of any size has a line, with as many locks as there is room for.
func TestLargeSets(t *testing.T) {
	set := func(n int, address string) Event {
		e := all()[7]
		e.Locks, e.Modes, e.Tokens = nil, nil, nil
		var ids []string
		for i := range n {
			e.Locks = append(e.Locks, fmt.Sprintf("%s-%04d", address, i))
			e.Modes = append(e.Modes, []string{"shared", "exclusive"}[i%2])
			e.Tokens = append(e.Tokens, uint64(i))
			ids = append(ids, strings.Repeat("f", 32))
		}
		e.ID = strings.Join(ids, ",")
		return e
	}
	for name, c := range map[string]struct {
		e     Event
		hasID bool
		locks int // at least
	}{
		"all of it":       {set(500, "local:/var/lock/billing"), true, 500},
		"no room for ids": {set(1000, "local:/var/lock/billing"), false, 1000},
		"nor for locks":   {set(1024, "local:/"+strings.Repeat("x", 200)), false, 250},
		"escapes":         {set(100, "local:/"+strings.Repeat("\x01", 2000)), false, 5},
		"one lock only":   {set(100, "local:/"+strings.Repeat("\x01", 7000)), false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			line := format(t, c.e)
			got, err := Parse([]byte(line))
			if err != nil || len(line) > protocol.MaxEvent {
				t.Fatalf("%d bytes, %v", len(line), err)
			}
			if (got.ID != "") != c.hasID || len(got.Locks) < c.locks || len(got.Locks)+got.More != len(c.e.Locks) {
				t.Errorf("%d locks and %d more, id %.10q", len(got.Locks), got.More, got.ID)
			}
			if i := len(got.Locks) - 1; got.Locks[i] != c.e.Locks[i] || got.ModeOf(i) != c.e.Modes[i] || got.TokenOf(i) != c.e.Tokens[i] {
				t.Errorf("the last lock is %.40q, %s, #%d", got.Locks[i], got.ModeOf(i), got.TokenOf(i))
			}
			if got.More > 0 && len(line) < protocol.MaxEvent/2 {
				t.Errorf("%d locks have no room in %d bytes", got.More, len(line))
			}
		})
	}
}

func TestRead(t *testing.T) {
	good := format(t, all()[1])
	file := good + "\n" + good[:40] + good + strings.Repeat("x", 3*protocol.MaxEvent) + "\n" + good + good[:len(good)-1]
	var lines []int
	events := 0
	for e, err := range Read(strings.NewReader(file)) {
		var line int
		switch {
		case err == nil && reflect.DeepEqual(e, all()[1]):
			events++
		case errors.Is(err, ErrMalformed):
			if _, err := fmt.Sscanf(err.Error(), "line %d: ", &line); err != nil {
				t.Error(err)
			}
			lines = append(lines, line)
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
		// A line of a Writer comes back byte for byte. Any other line stays the same after one
		// round.
		once, err := e.Format()
		if err != nil {
			return // escapes may lengthen it past the limit
		}
		again, err := Parse(once)
		if err != nil {
			t.Fatalf("the line %s, which was written from an event, cannot be read: %v", once, err)
		}
		if twice, _ := again.Format(); !bytes.Equal(twice, once) {
			t.Fatalf("%s became %s", once, twice)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(format(f, all()[0]) + "{}\n\n" + format(f, all()[3])))
	f.Add([]byte(strings.Repeat("x", protocol.MaxEvent) + "\n"))
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

// read returns the events of a file. Each of its lines must be an event.
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
