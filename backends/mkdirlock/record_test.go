//go:build unix

package mkdirlock

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backendtest"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/protocol"
)

// anyRecord returns a record with metadata of so many bytes.
func anyRecord(random *rand.Rand, meta int) owner.Record {
	value := make([]byte, meta)
	for i := range value {
		value[i] = byte(' ' + random.IntN(95))
	}
	return owner.Record{
		ID: owner.NewID(), Place: owner.Place{Host: "web3", Machine: owner.NewID(), Boot: owner.NewID(), PIDNS: "pid:[4026531836]", TimeNS: "time:[4026531834]"},
		Helper: process.Process{PID: 1 + random.IntN(1<<22), Start: random.Uint64()},
		User:   "alice", Mode: "exclusive", Lease: time.Minute, Acquired: time.Unix(random.Int64N(1<<32), 0).UTC(),
		Meta: []protocol.Field{{Key: "job", Value: string(value)}},
	}
}

// namesOf are the names in an entry with that record.
func namesOf(parts []string, beat uint64) []string {
	return append(extraNames(parts), beatName(beat, parts))
}

// TestRecordRoundTrip: what is written is read, however many names it takes.
func TestRecordRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	most := 0
	for size := 0; size < 3000; size += 37 {
		r := anyRecord(random, size)
		parts, err := pack(r)
		if errors.Is(err, protocol.ErrMalformed) {
			continue // longer than a line
		}
		mustWork(t, err)
		most = max(most, len(parts))
		names := namesOf(parts, random.Uint64())
		random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			if len(name) > 255 || strings.ContainsAny(name, "/\x00 ") {
				t.Errorf("a name of %d bytes: %q", len(name), name)
			}
		}
		got, note := recordIn(names, r.ID)
		if got == nil || !reflect.DeepEqual(*got, r) {
			t.Fatalf("%d bytes: %+v became %+v (%s)", size, r, got, note)
		}
		if len(parts) > 1 {
			if got, note := recordIn(names[1:], r.ID); got != nil || note == "" {
				t.Errorf("without a part: %+v, %q", got, note)
			}
		}
	}
	if most < 4 {
		t.Errorf("at most %d parts", most)
	}
}

// TestPartOfRecordComesLater: a request to make a part of the record that came to
// nothing is made again, so that in the end everybody can tell who holds the lock.
func TestPartOfRecordComesLater(t *testing.T) {
	for about, err := range map[string]error{"answer lost": Outcome(unix.ETIMEDOUT), "refused": Outcome(unix.ENOENT)} {
		t.Run(name(about), func(t *testing.T) {
			eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
				failures := 0
				here := newHost("here", hooked{m, func(o operation) error {
					if o.call == "mkdir" && strings.Contains(o.name, "/"+partPrefix+"2.") && failures < 2 {
						failures++
						return err
					}
					return o.do()
				}}, k)
				r := here.by(7, "exclusive")
				r.Owner.Meta = anyRecord(rand.New(rand.NewPCG(3, 4)), 1500).Meta
				h := mustHold(t, here.ask(t, r))
				mustStillHold(t, h)
				mustStillHold(t, h)
				a := newHost("here", m, k).want(t, "exclusive")
				if held := mustBeHeld(t, a); held.Record == nil || failures < 2 {
					t.Errorf("held by %+v", held)
				}
				mustWithdraw(t, a)
				mustRelease(t, h)
				mustBeTidy(t, m, k)
			})
		})
	}
}

// TestPartOfRecordNeverComes: a holder lives on where the rest of its record cannot be
// written.
func TestPartOfRecordNeverComes(t *testing.T) {
	eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
		trouble := Outcome(unix.ETIMEDOUT)
		here := newHost("here", hooked{m, func(o operation) error {
			if o.call == "mkdir" && strings.Contains(o.name, "/"+partPrefix+"2.") {
				return trouble
			}
			return o.do()
		}}, k)
		r := here.by(7, "exclusive")
		r.Owner.Meta = anyRecord(rand.New(rand.NewPCG(3, 4)), 1500).Meta
		h := mustHold(t, here.ask(t, r))
		trouble = Outcome(unix.ENOSPC)
		mustStillHold(t, h)
		mustStillHold(t, h)
		mustRelease(t, h)
		mustBeTidy(t, m, k)
	})
}

// TestAgeIsNotTooLarge: what the record says of the time is no coarser than a clock.
func TestAgeIsNotTooLarge(t *testing.T) {
	eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
		time.Sleep(1999 * time.Millisecond)
		h := newHost("here", m, k).take(t, "exclusive")
		time.Sleep(50 * time.Millisecond)
		a := newHost("there", m, k).want(t, "exclusive")
		if held := mustBeHeld(t, a); held.Age != 50*time.Millisecond {
			t.Errorf("held for %v", held.Age)
		}
		mustWithdraw(t, a)
		mustRelease(t, h)
	})
}

// TestLongMetadata: whoever looks sees all of it, and nothing is left of it.
func TestLongMetadata(t *testing.T) {
	eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
		here := newHost("here", m, k)
		r := here.Request("exclusive")
		r.Owner.Meta = anyRecord(rand.New(rand.NewPCG(3, 4)), 1500).Meta
		h := mustHold(t, here.ask(t, r))
		for range 2 {
			a := here.want(t, "exclusive")
			if held := mustBeHeld(t, a); held.Record == nil || !reflect.DeepEqual(held.Record.Meta, r.Owner.Meta) {
				t.Errorf("held by %+v", held)
			}
			mustWithdraw(t, a)
			mustStillHold(t, h)
		}
		mustRelease(t, h)
		mustBeTidy(t, m, k)
		r.Owner.Meta[0].Value = strings.Repeat("x", 5000)
		_, err := here.ask(t, r).Try(t.Context())
		mustFail(t, err, protocol.Usage, "give less --meta")
		mustBeTidy(t, m, k)
	})
}

// TestNewestHeartbeatCounts: an answer that was lost may leave two.
func TestNewestHeartbeatCounts(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, ""},
		{[]string{"9.1.a", "10.1.a"}, "10.1.a"},
		{[]string{"0.1.a"}, "0.1.a"},
		{[]string{"5.0.a", "6.33.a", "7.x.a", "-8.1.a", "9.1", "10.1.a.b", "x"}, ""},
		{[]string{"18446744073709551615.1.a", "18446744073709551616.1.a"}, "18446744073709551615.1.a"},
	} {
		if got, _ := latestBeat(c.names); got != c.want {
			t.Errorf("%q: %q, want %q", c.names, got, c.want)
		}
	}
}

// bomb is what unpacks to the most for its length.
func bomb(size int) string {
	longest := slices.IndexFunc(phrases[:], func(p string) bool { return len(p) == len(" timens=time:[4026531834]") })
	return base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{phraseByte + byte(longest)}, size))
}

// TestBomb: a name that unpacks to more than a record is not unpacked to the end.
func TestBomb(t *testing.T) {
	id := owner.NewID()
	text := bomb(maxParts * maxPart * 3 / 4)
	var parts []string
	for len(text) > 0 {
		n := min(len(text), maxPart)
		parts, text = append(parts, text[:n]), text[n:]
	}
	if len(parts) > maxParts {
		t.Fatalf("%d parts", len(parts))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if r, note := recordIn(namesOf(parts, 1), id); r != nil || note == "" {
		t.Errorf("%+v, %q", r, note)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("it took %d bytes", used)
	}
}

// FuzzCompress: every text comes back as it was.
func FuzzCompress(f *testing.F) {
	for _, text := range append(phrases[:], "", "plain", "1b4e28ba-2fa1", "a\x1f\x10\x80\xff", strings.Repeat("0f", 100), "é") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := decompress(compress(text))
		if len(text) <= protocol.MaxLine && (err != nil || got != text) {
			t.Fatalf("%q became %q, %v", text, got, err)
		}
	})
}

// TestRecordFitsIntoOneName: what most holders say of themselves.
func TestRecordFitsIntoOneName(t *testing.T) {
	r := backendtest.Request().Owner
	r.ID, r.Parent, r.Acquired = owner.NewID(), r.Helper, time.Now()
	r.Place.Host, r.User = "web-server-03.example.org", "billing"
	r.Place.Machine, r.Place.Boot = owner.NewID(), "1b4e28ba-2fa1-11d2-883f-0016d3cca427"
	parts, err := pack(r)
	if err != nil || len(parts) != 1 {
		t.Errorf("%d parts: %v", len(parts), err)
	}
	t.Logf("%d bytes", len(parts[0]))
}

func FuzzRecord(f *testing.F) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, size := range []int{0, 100, 1500} {
		r := anyRecord(random, size)
		parts, err := pack(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(r.ID, strings.Join(namesOf(parts, 7), "/"))
	}
	id := owner.NewID()
	f.Add(id, "1.1."+bomb(150))
	f.Add(id, "1.32.a/m.31.b/m.32.c/m.-1.d/m.0.e/m.1")
	f.Fuzz(func(t *testing.T, id, text string) {
		names := strings.Split(text, "/")
		r, note := recordIn(names, id)
		if (r == nil) == (note == "") {
			t.Fatalf("%+v, %q", r, note)
		}
		if r == nil {
			return
		}
		if r.ID != id {
			t.Fatalf("a record of %q for %q", r.ID, id)
		}
		// Another may say it in other names, but it says the same.
		parts, err := pack(*r)
		if err != nil {
			return // too long in our own spelling
		}
		if again, note := recordIn(namesOf(parts, 0), id); again == nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("%+v became %+v (%s)", r, again, note)
		}
	})
}

func FuzzNames(f *testing.F) {
	l := Lock{Name: "L"}
	t := ticket{time.Minute, owner.NewID()}
	for _, name := range []string{entry{exclusive, t}.String(), entry{shared, t}.String(), l.reservation(t), fenceName(7), "x.60000-" + strings.Repeat("A", 32), "fence.01"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if e, ok := parseEntry(name); ok && e.String() != name {
			t.Errorf("%q became %q", name, e)
		}
		if w, ok := l.parseReservation(name); ok && l.reservation(w) != name {
			t.Errorf("%q became %q", name, l.reservation(w))
		}
		if n, ok := parseFence(name); ok && fenceName(n) != name {
			t.Errorf("%q became %q", name, fenceName(n))
		}
		if n, parts, first, ok := parseBeat(name); ok && (parts < 1 || parts > maxParts || !strings.HasSuffix(name, "."+first)) {
			t.Errorf("%q became %s", name, fmt.Sprint(n, parts, first))
		}
	})
}
