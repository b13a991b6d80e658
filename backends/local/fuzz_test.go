package local

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"locksmith/backends/owner"
	"locksmith/backends/process"
)

// FuzzContent: what is no record of ours is never the file of a dead holder, unless it
// holds nothing but the pid of a process that is not there. A file of ours that is
// not finished is judged by nothing that stands in it.
func FuzzContent(f *testing.F) {
	text, err := format(ownRecord())
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{
		"", "0\n", "17\n", " 17 ", "+17\n", "017\n", "4194304\n", "4194305\n", "-1\n", "17 host\n", "17\nhost\n", "host 17 1700000000 rand\n", "17\r\n",
		"\x00\x00", "\x1b[2J", "99999999999999999999\n", text, text[:len(text)/2], text + "\n", strings.Replace(text, "\n", "7\n", 1), strings.Repeat("1\n", maxContent),
	} {
		f.Add(s)
	}
	here := owner.Here()
	f.Fuzz(func(t *testing.T, s string) {
		var c, marked content
		marked.stat.marked = true
		c.parse(s)
		marked.parse(s)
		if marked.record == nil && (marked.verdict(here) != owner.Unknown || !marked.unfinished()) {
			t.Fatalf("%q, not finished, is %s", s, marked.verdict(here))
		}
		r := c.record
		switch {
		case (r == nil) == (c.note == ""), r != nil && c.pid != 0, len(s) > maxContent && r != nil:
			t.Fatalf("%q became %+v", s, c)
		case r != nil:
			if again, err := format(*r); err == nil {
				var back content
				if back.parse(again); !reflect.DeepEqual(back.record, r) {
					t.Fatalf("%q became %q", s, again)
				}
			}
			if r.Place != here && !here.RebootedSince(r.Place) && c.verdict(here) != owner.Unknown {
				t.Fatalf("%q is %s", s, c.verdict(here))
			}
		case c.pid == 0 && c.verdict(here) != owner.Unknown:
			t.Fatalf("%q is %s", s, c.verdict(here))
		case c.pid < 0, c.pid > process.MaxPID, c.pid > 0 && !strings.Contains(s, strconv.Itoa(c.pid)):
			t.Fatalf("%q names pid %d", s, c.pid)
		}
	})
}
