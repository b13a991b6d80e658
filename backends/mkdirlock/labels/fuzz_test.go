//go:build unix

package labels

import (
	"slices"
	"strings"
	"testing"

	"locksmith/backends/owner"
	"locksmith/backends/tokens"
	"locksmith/protocol"
)

// FuzzListing: of the names in a directory only those count that are exactly ours, and a record
// is believed only for the entry that it is in.
func FuzzListing(f *testing.F) {
	id := owner.NewID()
	for _, names := range [][]string{
		{}, {"x.60000-" + id}, {"s.1000-" + id, "x.060000-" + id, "../x.60000-" + id}, {"fence.7", "fence.08", "fence.18446744073709551615"},
		{"9.1.a", "10.1.a", "m.1.x"}, {"lock", "r.60000-" + id, ".", ".."}, {"x.31622400000-" + id, "x.31622400001-" + id, "x.999-" + id},
	} {
		f.Add(strings.Join(names, "\n"))
	}
	f.Fuzz(func(t *testing.T, listing string) {
		names := strings.Split(listing, "\n")
		for _, e := range EntriesIn(names) {
			if !slices.Contains(names, e.String()) || strings.Contains(e.String(), "/") || e.Ticket.Lease < owner.MinLease || e.Ticket.Lease > owner.MaxLease {
				t.Errorf("of the names %q an entry is read that is not there: %s", listing, e)
			}
		}
		all := FencesIn(names)
		if newest := all.Newest(); newest != 0 && (!slices.Contains(names, FenceName(newest)) || newest >= tokens.Max) {
			t.Errorf("of the names %q a token is read that is not there: %d", listing, newest)
		}
		if beat, parts := LatestBeat(names); beat != "" && (!slices.Contains(names, beat) || parts < 1 || parts > MaxParts) {
			t.Errorf("%q has the heartbeat %q of %d parts", listing, beat, parts)
		}
		if r, note := RecordIn(names, id); r != nil && r.ID != id || (r == nil) == (note == "") {
			t.Errorf("of the names %q the record of another is read: %+v, %q", listing, r, note)
		}
	})
}

// FuzzDecompress: no name unpacks to much more than a record, and what it unpacks to
// can be packed again.
func FuzzDecompress(f *testing.F) {
	for _, s := range []string{"", "\x80\xff", "\x1f", "\x1f\x80", "\x10ab", "\x1e", "\x95plain\x0f", strings.Repeat("\x80", MaxParts*maxPart)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		text, err := decompress(packed)
		if err != nil {
			return
		}
		if len(text) > protocol.MaxLine+2*mostHex {
			t.Fatalf("a name of %d bytes unpacks to %d", len(packed), len(text))
		}
		if len(text) > protocol.MaxLine {
			return
		}
		if again, err := decompress(Compress(text)); err != nil || again != text {
			t.Fatalf("%q unpacks to %q, and that, packed, to %q, %v", packed, text, again, err)
		}
	})
}
