//go:build unix

package symlinks

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"locksmith/backends/owner"
	"locksmith/backends/tokens"
)

const someID = "0123456789abcdef0123456789abcdef"

func FuzzTicket(f *testing.F) {
	for _, s := range []string{"0-0-1000-" + someID, "17-1700000000000-60000-" + someID, "18446744073709551615-9223372036854775807-31622400000-" + someID} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		k, ok := parseTicket(s)
		if !ok {
			return
		}
		if k.String() != s {
			t.Errorf("the ticket %q is written back as %q", s, k)
		}
		if k.lease < owner.MinLease || k.lease > owner.MaxLease {
			t.Errorf("parseTicket takes %q with a lease out of bounds: %v", s, k.lease)
		}
	})
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"lock.1", "x.0-0-1000-" + someID, "s.0-0-1000-" + someID, "i.0-0-1000-" + someID, "../R/x.0-0-1000-" + someID} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		back := map[string]string{}
		if n, ok := parseLockName(s); ok {
			back["generation"] = strings.TrimPrefix(lockName(n), Generations+"/")
		}
		if e, ok := parseEntry(s); ok {
			back["entry"] = strings.TrimPrefix(e.path(), Reservations+"/")
		}
		if e, ok := parseLink(s); ok {
			back["link"] = e.link()
		}
		if k, ok := parseRecordName(s); ok {
			back["record"] = strings.TrimPrefix(k.record(), Reservations+"/")
		}
		for kind, got := range back {
			if got != s {
				t.Errorf("the %s %q is written back as %q", kind, s, got)
			}
		}
		if len(back) > 1 {
			t.Errorf("the name %q is read as several things: %v", s, back)
		}
	})
}

func randomTicket() ticket {
	return ticket{
		since: rand.Uint64N(tokens.Max), at: rand.Int64(), id: owner.NewID(),
		lease: owner.MinLease + time.Duration(rand.Int64N(int64(owner.MaxLease-owner.MinLease))).Truncate(time.Millisecond),
	}
}

func TestTicketsComeBack(t *testing.T) {
	for range 10000 {
		want := randomTicket()
		if got, ok := parseTicket(want.String()); !ok || got != want {
			t.Fatalf("the ticket %+v is written as %q and read as %+v, %v", want, want, got, ok)
		}
	}
}

func TestNamesFit(t *testing.T) {
	longest := ticket{since: math.MaxUint64, at: math.MinInt64, lease: owner.MaxLease, id: someID}
	// File systems take names of 255 bytes (NAME_MAX, limits.h).
	if n := len(string(exclusive) + "." + longest.String()); n > 255 {
		t.Errorf("a name of %d bytes", n)
	}
}

func TestNamesThatAreNot(t *testing.T) {
	good := "1-2-60000-" + someID
	if _, ok := parseTicket(good); !ok {
		t.Fatal("the pattern itself is refused")
	}
	for _, s := range []string{
		"", "-", "---", someID, good + "-", good + "\n", " " + good, "0" + good, "+" + good, "-" + good, "1-2-0-" + someID,
		"1-2-999-" + someID, "1-2-99999999999999999-" + someID, "18446744073709551616-2-60000-" + someID,
		"1-2-60000-" + strings.ToUpper(someID), "1-2-60000-" + someID[1:], "1-2-60000-" + someID + "0", "1-2-60000-../" + someID[3:],
	} {
		if k, ok := parseTicket(s); ok {
			t.Errorf("parseTicket takes %q for a ticket: %+v", s, k)
		}
	}
	for _, s := range []string{"lock.", "lock.0", "lock.01", "lock.+1", "lock.-1", "lock.1 ", "lock.18446744073709551616", "Lock.1", "1", ".lock.1"} {
		if n, ok := parseLockName(s); ok {
			t.Errorf("parseLockName takes %q for generation %d", s, n)
		}
	}
	for _, s := range []string{"x." + good, "../R/t." + good, "../R/i." + good, "../R/x." + good + "/", "/R/x." + good, "../../R/x." + good} {
		if e, ok := parseLink(s); ok {
			t.Errorf("%q is a link to %+v", s, e)
		}
	}
}

// TestQueueOrder: the queue is ordered by generation, then by clock, and last by id.
func TestQueueOrder(t *testing.T) {
	want := []ticket{
		{since: 1, at: 9000, id: "b"}, {since: 2, at: 1000, id: "c"}, {since: 2, at: 2000, id: "a"}, {since: 2, at: 2000, id: "b"}, {since: 10, at: 0, id: "a"},
	}
	for range 20 {
		got := slices.Clone(want)
		rand.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		slices.SortFunc(got, ticket.compare)
		if !slices.Equal(got, want) {
			t.Fatalf("the order of the queue is %v, want %v", got, want)
		}
	}
}

// TestClockBefore1970: a host with a dead battery makes names that others understand.
func TestClockBefore1970(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		old := newHost("old", m)
		old.skew = time.Until(time.Unix(-1000, 0))
		h := old.take(t, "exclusive")
		held := mustBeHeld(t, newHost("new", m).want(t, "exclusive"))
		if held.Holder.Record == nil || held.Holder.Record.ID != h.ID() {
			t.Errorf("the lock of a host in 1969 seems to be held by %+v", held.Holder)
		}
	})
}

// TestLeaseOutOfBounds: no ticket is made that nobody could read.
func TestLeaseOutOfBounds(t *testing.T) {
	inBubble(t, func(t *testing.T, m *memory) {
		for _, d := range []time.Duration{0, owner.MinLease - time.Millisecond, owner.MaxLease + time.Hour} {
			h := newHost("h", m)
			r := h.Request("exclusive")
			r.Owner.Lease = d
			a, err := h.lock().Attempt(r)
			if err == nil {
				_, err = a.Try(t.Context())
			}
			mustFail(t, err, "usage", "lease")
		}
		mustBeTidy(t, m)
	})
}
