//go:build unix

package link

import (
	"encoding/binary"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"locksmith/backends/finder"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/protocol"
	"locksmith/test/backendtest"
)

// foreignContents are what other tools write, and near misses of that.
var foreignContents = []string{
	"", "0", "17\n", "17", " 17 \n\x00", "+17\n", "017\n", "4194305\n", "-1\n", "17 host 3", "17\nhost\n", "host 17 1700000000 rand\n",
	"host|17|a3f\n", "17\n18\n", "\x00\x00\x00\x00", "0A0\x00", "\x1b[2J17\n", "17\r\n", "9223372036854775808\n", "17\nLOCK v=9 id=../../x\n",
}

// FuzzContent: a lock without a record of ours is held by somebody unknown. A death is proven
// only by a pid alone in the file, with ?pids=local, or by a record of this kernel's.
func FuzzContent(f *testing.F) {
	text, err := lockfile.Format(backendtest.Request().Owner)
	if err != nil {
		f.Fatal(err)
	}
	inBinary, err := lockfile.FormatBinary(backendtest.Request().Owner)
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range append(foreignContents, inBinary, text, strings.Replace(text, "\n", "7\n", 1), text+text, strings.Repeat("1", finder.MaxText+1)) {
		f.Add(s)
	}
	here := owner.Here()
	many, one := (&Lock{}).Here(), (&Lock{OneMachine: true}).Here()
	f.Fuzz(func(t *testing.T, s string) {
		c := parse(s)
		if (c.Record == nil) == (c.note == "") && c.PID == 0 || strings.ContainsFunc(c.note, protocol.IsControl) {
			t.Fatalf("the content %q is read as %+v", s, c)
		}
		switch r := c.Record; {
		case r != nil:
			if !owner.IsID(r.ID) || c.PID != 0 || r.Place != here && many.verdict(c) == owner.Dead {
				t.Fatalf("the content %q has the record %+v, which nobody of ours wrote", s, *r)
			}
			if again, err := lockfile.Format(*r); err == nil && !reflect.DeepEqual(parse(again).Record, r) {
				t.Fatalf("the record of %q is written back as %q", s, again)
			}
		case many.verdict(c) != owner.Unknown:
			t.Fatalf("the verdict on %q is %s, want unknown", s, many.verdict(c))
		case c.PID == 0 && one.verdict(c) != owner.Unknown:
			t.Fatalf("the verdict on %q is %s with ?pids=local, want unknown", s, one.verdict(c))
		case c.PID < 0, c.PID > process.MaxPID, c.PID > 0 && !strings.Contains(s, strconv.Itoa(c.PID)) && s != string(binary.NativeEndian.AppendUint32(nil, uint32(c.PID))):
			t.Fatalf("%q is read as the pid %d", s, c.PID)
		}
	})
}

// FuzzNames: a name that is taken for one of ours is exactly as we would write it, so that
// nothing in it leads elsewhere.
func FuzzNames(f *testing.F) {
	l := Lock{Name: "lock"}
	id := owner.NewID()
	for _, s := range []string{l.claimName(id), l.entryName(id, 1), l.entryName("f-1-2-3", maxEntries), "lock.brk." + id + ".01",
		"lock.claim.../" + id, "lock.brk.f-0-0-../../x.1", "lock.brk.f-1-2.1", "lock.claim." + strings.ToUpper(id), "locks.claim." + id} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		id, isClaim := l.parseClaim(name)
		if isClaim && l.claimName(id) != name {
			t.Errorf("the claim %q is written back as %q", name, l.claimName(id))
		}
		dead, n, isEntry := l.parseEntry(name)
		if isEntry && (l.entryName(dead, n) != name || n > maxEntries) {
			t.Errorf("the queue entry %q is written back as %q", name, l.entryName(dead, n))
		}
		if isClaim && isEntry || (isClaim || isEntry) && (strings.ContainsAny(name, "/\x00") || len(name) > maxName) {
			t.Errorf("%q is ours: claim %v, entry %v", name, isClaim, isEntry)
		}
	})
}
