package local

import (
	"encoding/binary"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/backends/process"
)

// FuzzContent: a file without a record of ours never counts as a dead holder's, unless it holds
// only the pid of a process that does not exist. A file of ours without such a record is judged by
// nothing that is written in it, and is either unfinished or strange.
func FuzzContent(f *testing.F) {
	text, err := lockfile.Format(ownRecord())
	if err != nil {
		f.Fatal(err)
	}
	inBinary, err := lockfile.FormatBinary(ownRecord())
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{
		inBinary, inBinary[:4], inBinary[:5], inBinary[:len(inBinary)/2], "\n\x00\x00\x00\n", "", "0\n", "17\n", " 17 ", "+17\n", "017\n", "4194304\n", "4194305\n", "-1\n", "17 host\n", "17\nhost\n", "host 17 1700000000 rand\n", "17\r\n",
		"\x00\x00", "\x1b[2J", "99999999999999999999\n", text, text[:len(text)/2], text + "\n", strings.Replace(text, "\n", "7\n", 1), strings.Repeat("1\n", lockfile.MaxText),
	} {
		f.Add(s)
	}
	here := owner.Here()
	f.Fuzz(func(t *testing.T, s string) {
		c, marked := parse(s, false), parse(s, true)
		marked.stat.Marked = true
		if marked.Record == nil && (marked.verdict(here) != owner.Unknown || marked.unfinished() == marked.strange()) {
			t.Fatalf("%q, marked, is %s; unfinished: %v, strange: %v", s, marked.verdict(here), marked.unfinished(), marked.strange())
		}
		r := c.Record
		switch {
		case (r == nil) == (c.note == ""), r != nil && c.PID != 0, len(s) > lockfile.MaxText && r != nil:
			t.Fatalf("%q became %+v", s, c)
		case r != nil:
			if again, err := lockfile.Format(*r); err == nil {
				if back := parse(again, true); !reflect.DeepEqual(back.Record, r) {
					t.Fatalf("%q became %q", s, again)
				}
			}
			if elsewhere := r.Place.Machine != here.Machine || r.Place.Host != here.Host; elsewhere && c.verdict(here) != owner.Unknown {
				t.Fatalf("%q is %s", s, c.verdict(here))
			}
		case c.PID == 0 && c.verdict(here) != owner.Unknown:
			t.Fatalf("%q is %s", s, c.verdict(here))
		case c.PID < 0, c.PID > process.MaxPID, c.PID > 0 && !strings.Contains(s, strconv.Itoa(c.PID)) && s != string(binary.NativeEndian.AppendUint32(nil, uint32(c.PID))):
			t.Fatalf("%q names pid %d", s, c.PID)
		}
	})
}
