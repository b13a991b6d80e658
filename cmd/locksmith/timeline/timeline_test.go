package timeline

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"locksmith/locksmith/events"
)

var update = flag.Bool("update", false, "write the pictures in testdata anew")

// Histories whose events are in no order. One has every sign of a picture; the other also has
// sets of locks.
const (
	signs = "testdata/signs"
	sets  = "testdata/sets"
)

func read(t *testing.T, name string) []events.Event {
	t.Helper()
	f, err := os.Open(name + ".events")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []events.Event
	for e, err := range events.Read(f) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func TestGolden(t *testing.T) {
	for _, name := range []string{signs, sets} {
		got, _ := Draw(read(t, name), 1000)
		if *update {
			if err := os.WriteFile(name+".svg", got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name + ".svg")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("the picture is not that of %s.svg; look at it, and write it anew with: go test ./cmd/locksmith/timeline -update", name)
		}
	}
}

func TestAnyOrder(t *testing.T) {
	for _, name := range []string{signs, sets} {
		all := read(t, name)
		want, _ := Draw(all, 1000)
		for seed := range uint64(20) {
			rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			if got, _ := Draw(all, 1000); !bytes.Equal(got, want) {
				t.Fatalf("%s: another picture of the same events in another order, seed %d", name, seed)
			}
		}
	}
}

// parts counts the elements of a picture by class, and returns all its text.
func parts(t *testing.T, svg []byte) (classes map[string]int, text string) {
	t.Helper()
	classes = map[string]int{}
	var all strings.Builder
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return classes, all.String()
		}
		if err != nil {
			t.Fatalf("not XML: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			for _, a := range token.Attr {
				if a.Name.Local == "class" {
					classes[a.Value]++
				}
			}
			if strings.EqualFold(token.Name.Local, "script") {
				t.Error("a script in the picture")
			}
		case xml.CharData:
			all.Write(token)
			all.WriteByte('\n')
		}
	}
}

func TestSigns(t *testing.T) {
	svg, _ := Draw(read(t, signs), 1000)
	classes, text := parts(t, svg)
	const legend = 1
	for class, want := range map[string]int{
		"lock": 4, "name": 14, "wait": 13 + legend, "exclusive": 9 + 1 + 2*legend, "shared": 1 + legend, "open exclusive": 1 + legend,
		"open shared": 1, "open wait": 1, "late": 3 + legend, "lost": 2 + legend, "gave-up": 1 + legend, "token": 6,
		"broken": 3 + legend, "unaware": 1 + legend,
	} {
		if classes[class] != want {
			t.Errorf("%d times %q, want %d", classes[class], class, want)
		}
	}
	for _, want := range []string{
		"4 locks", "13 processes on 2 hosts · 11 held · 2 lost · 1 gave up · 2 ended by others · 2 without an end", "2026-01-02 03:04:05.000 UTC",
		"web3 100 import", "#2", "lost: expired", "gave up: timeout", "no end yet", "server says no",
		"broken at 03:04:22.000000, for db1 501 stopped", "over at 03:04:38.000000 at the latest, when web3 502 heir got the lock",
		"waited 9.16s, from 03:04:05.490000 to 03:04:14.650000", "behind alice@web3 pid 100", "token 2", "<script>&??",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the picture does not say %q", want)
		}
	}
}

// TestEndedByOthers: if a holder was killed or stopped, its bar does not go on beside its heir's.
func TestEndedByOthers(t *testing.T) {
	at := func(k events.Kind, pid int, at int, token uint64) events.Event {
		e := event(k, pid, time.Duration(at)*time.Second)
		e.Token, e.ID = token, fmt.Sprint("id", pid)
		return e
	}
	broke := func(pid, when int) events.Event {
		e := at(events.Broke, 2, when, 0)
		e.Holder = events.Holder{ID: fmt.Sprint("id", pid)}
		return e
	}
	byHand := broke(1, 20)
	byHand.Kind, byHand.PID, byHand.Why = events.Broken, 9, "broken by alice"
	as := func(mode string, e events.Event) events.Event { e.Mode = mode; return e }
	elsewhere := at(events.Acquired, 2, 20, 2)
	elsewhere.Clock, elsewhere.Time.Time = "slow", elsewhere.Time.Add(-time.Hour)
	for name, test := range map[string]struct {
		all    []events.Event
		until  int // -1: until the end of the picture
		broken bool
	}{
		"broken":               {[]events.Event{at(events.Acquired, 1, 1, 1), broke(1, 20)}, 20, true},
		"broken by hand":       {[]events.Event{at(events.Acquired, 1, 1, 1), byHand, at(events.Acquired, 2, 25, 2), at(events.Lost, 1, 30, 0)}, 20, true},
		"broken by nobody":     {[]events.Event{at(events.Acquired, 1, 1, 1), at(events.Acquired, 2, 20, 2)}, 20, false},
		"the heir was first":   {[]events.Event{at(events.Acquired, 1, 1, 1), at(events.Acquired, 3, 19, 2), broke(1, 20)}, 19, true},
		"no tokens":            {[]events.Event{at(events.Acquired, 1, 1, 0), at(events.Acquired, 2, 20, 0)}, 20, false},
		"stopped":              {[]events.Event{at(events.Acquired, 1, 1, 1), at(events.Acquired, 2, 20, 2), at(events.Lost, 1, 30, 0)}, 20, false},
		"knew it first":        {[]events.Event{at(events.Acquired, 1, 1, 1), at(events.Lost, 1, 19, 0), at(events.Acquired, 2, 20, 2)}, -1, false},
		"another was broken":   {[]events.Event{at(events.Acquired, 1, 1, 1), broke(3, 20)}, -1, false},
		"nobody came":          {[]events.Event{at(events.Acquired, 1, 1, 1), at(events.GaveUp, 2, 20, 0)}, -1, false},
		"had it before":        {[]events.Event{at(events.Acquired, 1, 10, 2), at(events.Acquired, 2, 1, 1), at(events.Released, 2, 5, 0)}, -1, false},
		"released":             {[]events.Event{at(events.Acquired, 1, 1, 1), at(events.Acquired, 2, 20, 2), at(events.Released, 1, 30, 0)}, -1, false},
		"shared with it":       {[]events.Event{as("shared", at(events.Acquired, 1, 1, 1)), as("shared", at(events.Acquired, 2, 20, 1))}, -1, false},
		"shared, then alone":   {[]events.Event{as("shared", at(events.Acquired, 1, 1, 1)), at(events.Acquired, 2, 20, 2)}, 20, false},
		"alone, then shared":   {[]events.Event{at(events.Acquired, 1, 1, 1), as("shared", at(events.Acquired, 2, 20, 2))}, 20, false},
		"by a clock that lags": {[]events.Event{at(events.Acquired, 1, 1, 1), elsewhere}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := &part{}
			for _, p := range processes(test.all) {
				if p.first.PID == 1 {
					f = p.parts[0]
				}
			}
			switch {
			case test.until < 0 && f.over != nil:
				t.Errorf("ended at %v, which nobody said", f.over.at)
			case test.until >= 0 && f.over == nil:
				t.Error("not ended")
			case test.until >= 0 && (!f.over.at.Equal(time.Unix(1e9+int64(test.until), 0)) || f.broke != test.broken):
				t.Errorf("ended at %v, broken: %v; want %d s, %v", f.over.at, f.broke, test.until, test.broken)
			}
			svg, _ := Draw(test.all, 10)
			classes, text := parts(t, svg)
			if (classes["broken"] > 1) != (test.until >= 0) {
				t.Errorf("%d marks of it in the picture", classes["broken"])
			}
			if byHand := name == "broken by hand"; strings.Contains(text, ": broken by alice") != byHand || byHand && classes["name"] != 2 {
				t.Errorf("%d rows in %s", classes["name"], text)
			}
		})
	}
}

// TestSets: each lock of a set has its row, with its own mode and token. The row shows when this
// lock was the one that was not free.
func TestSets(t *testing.T) {
	svg, _ := Draw(read(t, sets), 1000)
	classes, text := parts(t, svg)
	const legend = 1
	for class, want := range map[string]int{
		"lock": 3, "name": 12, "aside": 8 + legend, "open aside": 1, "wait": 10 + legend, "open wait": 1,
		"exclusive": 5 + 2*legend, "shared": 3 + 2 + legend, "gave-up": 2 + legend, "token": 5,
	} {
		if classes[class] != want {
			t.Errorf("%d times %q, want %d", classes[class], class, want)
		}
	}
	for _, want := range []string{
		"web3, pid 401, close\nshared nfs:/srv/locks/customers\nid b1\n" +
			"together with exclusive nfs:/srv/locks/billing\ntogether with exclusive local:/var/lock/stock\n",
		"waited 3.5s, from 03:04:05.500000 to 03:04:09.000000\nbehind alice@web3 pid 400\n",
		"waited 5.65s for all of a set, from 03:04:05.450000 to 03:04:11.100000\n",
		"held exclusive for 1.449s, from 03:04:13.050000 to 03:04:14.499000\ntoken 2\n",
		"token 3\ntogether with shared local:/var/lock/stock\nand 900 more\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the picture does not say %q", want)
		}
	}
	if strings.Contains(text, "nfs:/mnt") {
		t.Error("a lock that is named twice is drawn twice")
	}
}

// TestLargeSet: a set of many locks that is refused again and again does not make the picture too
// large.
func TestLargeSet(t *testing.T) {
	const locks, refusals = 1000, 1000
	var names []string
	for i := range locks {
		names = append(names, fmt.Sprintf("local:/var/lock/billing/%d", i))
	}
	var all []events.Event
	for i := range refusals {
		e := event(events.Waiting, 1, time.Duration(i)*time.Millisecond)
		e.Locks, e.Lock = names, names[i%2]
		all = append(all, e)
	}
	svg, _ := Draw(all, 10)
	if classes, _ := parts(t, svg); classes["name"] != locks || classes["wait"] > 2*plotWidth || len(svg) > 3000*locks {
		t.Errorf("%d rows, %d waits, %d bytes", classes["name"], classes["wait"], len(svg))
	}
}

// TestLapsed: a holder that was stopped past its lease is not shown as holding alone until it told of
// its loss, whether somebody else got the lock or not.
func TestLapsed(t *testing.T) {
	at := func(k events.Kind, pid int, at int) events.Event {
		e := event(k, pid, time.Duration(at)*time.Second)
		e.ID, e.Lease = fmt.Sprint("id", pid), events.In(time.Minute)
		return e
	}
	lost := at(events.Lost, 1, 300)
	for name, c := range map[string]struct {
		silent time.Duration
		heir   int // when another gets the lock; 0: never
		until  int // when the bar of one that holds ends; 0: it is all of it
	}{
		"stopped":                {250 * time.Second, 0, 110},
		"stopped, then an heir":  {250 * time.Second, 200, 110},
		"an heir before that":    {100 * time.Second, 200, 0},
		"it noticed in time":     {50 * time.Second, 0, 0},
		"an older locksmith":     {0, 0, 0},
		"stopped from the start": {400 * time.Second, 0, 1},
	} {
		lost.Silent = events.In(c.silent)
		all := []events.Event{at(events.Acquired, 1, 1), lost}
		if c.heir > 0 {
			all = append(all, at(events.Acquired, 2, c.heir))
		}
		f := processes(all)[0].parts[0]
		svg, _ := Draw(all, 10)
		classes, text := parts(t, svg)
		if got := classes["lapsed exclusive"] > 0; got != (c.until > 0) || got != strings.Contains(text, "lease over") {
			t.Errorf("%s: %d bars of a lease that is over, in %s", name, classes["lapsed exclusive"], text)
		}
		if c.until > 0 && !f.lapsed().Equal(time.Unix(1e9+int64(c.until), 0)) {
			t.Errorf("%s: the lease was over at %v, want after %d s", name, f.lapsed(), c.until)
		}
	}
}

// TestLivingHolder: one that holds the lock when the picture is drawn has nothing red.
func TestLivingHolder(t *testing.T) {
	svg, _ := Draw([]events.Event{event(events.Acquired, 1, 0), event(events.Late, 1, time.Second)}, 10)
	if classes, text := parts(t, svg); classes["bad"]+classes["lost"]+classes["broken"] > 0 || !strings.Contains(text, "no end yet") {
		t.Errorf("a holder that lives has signs of a bad end: %v", classes)
	}
}

// TestArrayJob: the tasks of a job have rows that can be told apart.
func TestArrayJob(t *testing.T) {
	e := event(events.Acquired, 7, 0)
	e.Command, e.Meta = "sh", map[string]string{"job": "align", "task": "12", "array": "9"}
	svg, _ := Draw([]events.Event{e}, 10)
	if _, text := parts(t, svg); !strings.Contains(text, "web3 7 align array=9 task=12\n") {
		t.Errorf("the row of a task does not say which: %s", text)
	}
}

func event(k events.Kind, pid int, at time.Duration) events.Event {
	return events.Event{
		Kind: k, Time: events.Stamp{Time: time.Unix(1e9, 0).Add(at)}, Boot: events.In(time.Hour + at), Clock: "clock", Locks: []string{"local:/x"},
		Host: "web3", PID: pid, Mode: "exclusive", Code: "held",
	}
}

// TestPidAgain: a pid that comes again is another process.
func TestPidAgain(t *testing.T) {
	const us = time.Microsecond
	found := processes([]events.Event{
		event(events.Acquired, 1, 5*us), event(events.Released, 1, 6*us),
		event(events.Acquired, 1, 1*us), event(events.Released, 1, 2*us), event(events.Acquired, 1, 7*us),
	})
	if len(found) != 3 {
		t.Fatalf("%d processes, want 3", len(found))
	}
	for i, n := range []int{2, 2, 1} {
		if len(found[i].moments) != n {
			t.Errorf("process %d has %d events, want %d", i, len(found[i].moments), n)
		}
	}
}

// TestCalendarIsSet: setting the calendar between two events moves nothing.
func TestCalendarIsSet(t *testing.T) {
	from, to := event(events.Acquired, 1, 0), event(events.Released, 1, time.Second)
	to.Time.Time = to.Time.Add(-time.Hour)
	p := processes([]events.Event{to, from})[0]
	if d := p.last.at.Sub(p.first.at); d != time.Second || p.first.Kind != events.Acquired {
		t.Errorf("the holder's time is %v, beginning with %s", d, p.first.Kind)
	}
}

// TestEventsMissing: if events are missing, the others still tell as much as they can.
func TestEventsMissing(t *testing.T) {
	released := event(events.Released, 1, time.Minute)
	released.Held = events.In(time.Second)
	for name, all := range map[string][]events.Event{
		"only released": {released},
		"only lost":     {event(events.Lost, 1, 1)},
		"only late":     {event(events.Late, 1, 1)},
		"only waiting":  {event(events.Waiting, 1, 1)},
		"only gave up":  {event(events.GaveUp, 1, 1)},
		"no clock":      {{Kind: events.Acquired, Time: events.Stamp{Time: time.Unix(0, 0)}, Locks: []string{"x"}, PID: 1, Mode: "shared"}},
	} {
		t.Run(name, func(t *testing.T) {
			svg, _ := Draw(all, 1)
			if classes, _ := parts(t, svg); classes["name"] != 1 {
				t.Errorf("%d rows, want 1", classes["name"])
			}
			if bytes.Contains(svg, []byte("NaN")) || bytes.Contains(svg, []byte("Inf")) {
				t.Error("the picture has a place that is nowhere")
			}
		})
	}
}

func TestHostileNames(t *testing.T) {
	e := event(events.Acquired, 1, 0)
	e.Host, e.Command, e.ID = "</text><script>alert(1)</script>", "\x1b[31m\u202e\x00", `"]]>&lt;`
	e.Locks = []string{`local:/"><svg onload="x">`, "local:/" + strings.Repeat("a", 10000)}
	svg, _ := Draw([]events.Event{e}, 1000)
	if _, text := parts(t, svg); !strings.Contains(text, "</text><script>alert(1)</script>") {
		t.Error("the host is not told as it is")
	}
	if bytes.ContainsAny(svg, "\x00\x1b") || bytes.Contains(svg, []byte("\u202e")) {
		t.Error("a control character in the picture")
	}
	if len(svg) > 10000 {
		t.Errorf("%d bytes for one process", len(svg))
	}
}

// TestManyProcesses: the size of the picture is limited, and a crowd takes hardly any time.
func TestManyProcesses(t *testing.T) {
	const n = 10000
	var all []events.Event
	for i := range n {
		at := time.Duration(i) * time.Millisecond
		w, a, r := event(events.Waiting, i+1, at), event(events.Acquired, i+1, 5*at), event(events.Released, i+1, 5*at+time.Millisecond)
		a.Token, a.Waited = uint64(i+1), events.In(4*at)
		all = append(all, w, a, r)
	}
	svg, left := Draw(all, 1000)
	if classes, text := parts(t, svg); classes["name"] != 1000 || left != n-1000 || !strings.Contains(text, "9000 more not drawn") {
		t.Errorf("%d rows, %d left out", classes["name"], left)
	}
	if svg, left = Draw(all, n); left != 0 || len(svg) > 2000*n {
		t.Errorf("%d left out, %d bytes", left, len(svg))
	}
}

// TestBounds: neither sets of locks nor heartbeats make the picture too large.
func TestBounds(t *testing.T) {
	var all []events.Event
	for i := range 100 {
		e := event(events.Acquired, i+1, time.Duration(i))
		e.Locks = []string{"local:/a", "local:/b", "local:/c"}
		all = append(all, e)
	}
	for i := range 20000 {
		all = append(all, event(events.Late, 1, time.Duration(i)*time.Second))
	}
	svg, left := Draw(all, 10)
	classes, _ := parts(t, svg)
	if left != 97 || classes["name"] != 9 || classes["late"] > 3*plotWidth+1 {
		t.Errorf("%d left out, %d rows, %d heartbeats", left, classes["name"], classes["late"])
	}
	if _, left = Draw(all, 1); left != 99 {
		t.Errorf("%d left out, want 99", left)
	}
}

func TestTicks(t *testing.T) {
	start := time.Date(2026, 1, 2, 23, 10, 20, 300e6, time.UTC)
	for span, want := range map[time.Duration]string{
		7 * time.Microsecond:    "+0 µs +1 µs +2 µs +3 µs +4 µs +5 µs +6 µs +7 µs",
		1200 * time.Microsecond: "+0 ms +0.2 ms +0.4 ms +0.6 ms +0.8 ms +1 ms +1.2 ms",
		time.Second:             "+0 s +0.2 s +0.4 s +0.6 s +0.8 s +1 s",
		time.Minute:             "+0 s +10 s +20 s +30 s +40 s +50 s +60 s",
		3 * time.Minute:         "23:10:30 23:11:00 23:11:30 23:12:00 23:12:30 23:13:00",
		2 * time.Hour:           "23:15 23:30 23:45 3 Jan 2026 00:15 00:30 00:45 01:00",
		72 * time.Hour:          "3 Jan 2026 12:00 4 Jan 2026 12:00 5 Jan 2026 12:00",
	} {
		var names []string
		for _, tick := range (axis{from: start, to: start.Add(span)}).ticks() {
			names = append(names, tick.name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%v: %s, want %s", span, got, want)
		}
	}
	for span := time.Microsecond; span < 100*365*24*time.Hour; span += span/2 + 1 {
		if n := len((axis{from: start, to: start.Add(span)}).ticks()); n < 2 || n > 2*maxTicks {
			t.Errorf("%v: %d ticks", span, n)
		}
	}
}

func FuzzDraw(f *testing.F) {
	for _, name := range []string{signs, sets} {
		raw, err := os.ReadFile(name + ".events")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
		for line := range bytes.Lines(raw) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var all []events.Event
		for e, err := range events.Read(bytes.NewReader(raw)) {
			if err == nil {
				all = append(all, e)
			}
		}
		if len(all) == 0 {
			return
		}
		svg, _ := Draw(all, 1000)
		parts(t, svg)
	})
}
