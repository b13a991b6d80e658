package labels

import (
	"encoding/base64"
	"errors"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/protocol"
	"locksmith/test/backendtest"
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
	return append(ExtraNames(parts), BeatName(beat, parts))
}

// TestRecordRoundTrip: what is written is read, however many names it takes.
func TestRecordRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	most := 0
	for size := 0; size < 3000; size += 37 {
		r := anyRecord(random, size)
		parts, err := Pack(r)
		if errors.Is(err, protocol.ErrMalformed) {
			continue // longer than a line
		}
		backendtest.MustWork(t, err)
		most = max(most, len(parts))
		names := namesOf(parts, random.Uint64())
		random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			if len(name) > 255 || strings.ContainsAny(name, "/\x00 ") {
				t.Errorf("a name of %d bytes: %q", len(name), name)
			}
		}
		got, note := RecordIn(names, r.ID)
		if got == nil || !reflect.DeepEqual(*got, r) {
			t.Fatalf("a record of %d bytes, %+v, came back as %+v (%s)", size, r, got, note)
		}
		if len(parts) > 1 {
			if got, note := RecordIn(names[1:], r.ID); got != nil || note == "" {
				t.Errorf("without its first part a record is read as %+v, %q", got, note)
			}
		}
	}
	if most < 4 {
		t.Errorf("no record had more than %d parts, so long ones were not tried", most)
	}
}

// TestNewestHeartbeatCounts: after a lost answer there may be two heartbeats, and the newest one
// counts.
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
		if got, _ := LatestBeat(c.names); got != c.want {
			t.Errorf("the latest heartbeat of %q is %q, want %q", c.names, got, c.want)
		}
	}
}

// bomb is the name that unpacks to the longest text for its length.
func bomb(size int) string {
	return base64.RawURLEncoding.EncodeToString(Compress(strings.Repeat(" timens=time:[4026531834]", size)))
}

// TestBomb: a name that unpacks to more than a record is not unpacked to the end.
func TestBomb(t *testing.T) {
	id := owner.NewID()
	text := bomb(MaxParts * maxPart * 3 / 4)
	var parts []string
	for len(text) > 0 {
		n := min(len(text), maxPart)
		parts, text = append(parts, text[:n]), text[n:]
	}
	if len(parts) > MaxParts {
		t.Fatalf("the bomb has %d parts, which is too many to be read", len(parts))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if r, note := RecordIn(namesOf(parts, 1), id); r != nil || note == "" {
		t.Errorf("a name that unpacks to too much is read as %+v, %q", r, note)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("to refuse a name that unpacks to too much took %d bytes", used)
	}
}

// FuzzCompress: every text comes back as it was.
func FuzzCompress(f *testing.F) {
	for _, text := range append(phrases[:], "", "plain", "1b4e28ba-2fa1", "a\x1f\x10\x80\xff", strings.Repeat("0f", 100), "é") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := decompress(Compress(text))
		if len(text) <= protocol.MaxLine && (err != nil || got != text) {
			t.Fatalf("the text %q came back as %q, %v", text, got, err)
		}
	})
}

// TestRecordFitsIntoOneName: the record of most holders fits into one name.
func TestRecordFitsIntoOneName(t *testing.T) {
	r := backendtest.Request().Owner
	r.ID, r.Parent, r.Acquired = owner.NewID(), r.Helper, time.Now()
	r.Place.Host, r.User = "web-server-03.example.org", "billing"
	r.Place.Machine, r.Place.Boot = owner.NewID(), "1b4e28ba-2fa1-11d2-883f-0016d3cca427"
	parts, err := Pack(r)
	if err != nil || len(parts) != 1 {
		t.Errorf("a usual record has %d parts, %v; want 1", len(parts), err)
	}
	t.Logf("%d bytes", len(parts[0]))
}

func FuzzRecord(f *testing.F) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, size := range []int{0, 100, 1500} {
		r := anyRecord(random, size)
		parts, err := Pack(r)
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
		r, note := RecordIn(names, id)
		if (r == nil) == (note == "") {
			t.Fatalf("a record comes with a reason, or neither does: %+v, %q", r, note)
		}
		if r == nil {
			return
		}
		if r.ID != id {
			t.Fatalf("a record of %q for %q", r.ID, id)
		}
		// Another locksmith may write the record in other names, but they say the same.
		parts, err := Pack(*r)
		if err != nil {
			return // too long as we write it
		}
		if again, note := RecordIn(namesOf(parts, 0), id); again == nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("the record %+v, written again, is read as %+v (%s)", r, again, note)
		}
	})
}
