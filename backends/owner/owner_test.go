package owner

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"locksmith/backends/process"
	"locksmith/protocol"
)

func sample(t *testing.T) Record {
	t.Helper()
	self, err := process.Find(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return Record{ID: NewID(), Place: Here(), Helper: self, Parent: self, User: "alice", Mode: "exclusive",
		Lease: time.Minute, Refresh: 8 * time.Second, MaxHold: 2 * time.Hour, Program: "billing.pl", Acquired: time.Unix(1e9, 0), Meta: []protocol.Field{{Key: "job", Value: "two words\n"}}}
}

func gone(p process.Process) process.Process { p.Start++; return p }

// TestTimeOfRecord: times are not rounded, because that would make everything seem older.
func TestTimeOfRecord(t *testing.T) {
	r := sample(t)
	for _, at := range []time.Time{time.Unix(1e9, 0), time.UnixMilli(1e12 + 1), time.UnixMilli(1e12 + 990), time.UnixMilli(1e12 + 999)} {
		r.Acquired = at
		s, err := r.Format()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseRecord(s); err != nil || !got.Acquired.Equal(at) {
			t.Errorf("%v became %v, %v in %q", at, got.Acquired, err, s)
		}
	}
}

func FuzzRecord(f *testing.F) {
	s, err := Record{ID: "x", Helper: process.Process{PID: 1}, Lease: time.Minute}.Format()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(s)
	f.Add(strings.Replace(s, " user=", " ppid=3 pstart=4 later=kept user=", 1))
	f.Add(strings.Replace(s, " at=", " refresh_ms=8000 at=", 1))
	f.Add(strings.Replace(s, " user=", " lifeline=f00000000123456789abcdef user=", 1))
	f.Add("4242\n")
	here := Here()
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRecord(s)
		if err != nil {
			if !errors.Is(err, ErrRecord) {
				t.Fatalf("not ErrRecord: %v", err)
			}
			return
		}
		if r.ID == "" || r.Helper.PID <= 0 || r.Helper.PID > process.MaxPID || r.Lease < MinLease || r.Lease > MaxLease {
			t.Fatalf("%q became %+v", s, r)
		}
		// No text that somebody makes up can prove that a holder on another kernel is dead.
		if v := r.Verdict(here); r.Place != here && v != Unknown || r.NoProof && v == Dead {
			t.Fatalf("%q is %s", s, v)
		}
		// A canonical record comes back byte for byte. Any other record stays the same after one
		// round.
		once, err := r.Format()
		if err != nil {
			return // escapes and order may lengthen it past the limit
		}
		again, err := ParseRecord(once)
		if err != nil {
			t.Fatalf("the record %q, which we wrote, cannot be read: %v", once, err)
		}
		if twice, _ := again.Format(); twice != once {
			t.Fatalf("%q became %q", once, twice)
		}
	})
}

func TestRecordRoundTrip(t *testing.T) {
	sample := sample(t)
	sample.Lifeline = "f00000000123456789abcdef"
	s, err := sample.Format()
	if err != nil {
		t.Fatal(err)
	}
	s = strings.TrimSuffix(s, "\n") + " later=kept\n"
	r, err := ParseRecord(s)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := r.Format(); err != nil || back != s {
		t.Errorf("got %q, %v, want %q", back, err, s)
	}
}

func TestParseRecordRefuses(t *testing.T) {
	good, err := sample(t).Format()
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]string{
		"empty":             "",
		"garbage":           "hello\n",
		"truncated":         good[:len(good)/2],
		"no line feed":      strings.TrimSuffix(good, "\n"),
		"other version":     strings.Replace(good, " v=1", " v=2", 1),
		"lease too long":    strings.Replace(good, "lease_ms=60000", "lease_ms=99999999999999", 1),
		"no lease":          strings.Replace(good, "lease_ms=60000", "lease_ms=0", 1),
		"no max_hold":       strings.Replace(good, "max_hold_ms=7200000", "max_hold_ms=x", 1),
		"no refresh":        strings.Replace(good, "refresh_ms=8000", "refresh_ms=0", 1),
		"pid not a number":  strings.Replace(good, " pid=", " pid=x", 1),
		"negative pid":      strings.Replace(good, " pid=", " pid=-", 1),
		"time not a time":   strings.Replace(good, " at=", " at=x", 1),
		"no host":           strings.Replace(good, " host=", " hist=", 1),
		"text at the end":   strings.TrimSuffix(good, "\n") + " text=x\n",
		"not UTF-8":         "LOCK v=1 id=\xff\n",
		"longer than 4 KiB": strings.TrimSuffix(good, "\n") + " x=" + strings.Repeat("y", 4096) + "\n",
	} {
		if _, err := ParseRecord(s); !errors.Is(err, ErrRecord) {
			t.Errorf("a record (%s) gives the error %v, want %v", name, err, ErrRecord)
		}
	}
}

func TestVerdict(t *testing.T) {
	here := Here()
	for name, c := range map[string]struct {
		change func(*Record)
		want   Verdict
	}{
		"helper lives":                    {func(*Record) {}, Alive},
		"helper gone, parent lives":       {func(r *Record) { r.Helper = gone(r.Helper) }, Orphaned},
		"helper gone, proof off":          {func(r *Record) { r.Helper, r.Parent, r.NoProof = gone(r.Helper), process.Process{}, true }, Orphaned},
		"helper gone, no parent":          {func(r *Record) { r.Helper, r.Parent = gone(r.Helper), process.Process{} }, Dead},
		"both pids used again":            {func(r *Record) { r.Helper, r.Parent = gone(r.Helper), gone(r.Parent) }, Dead},
		"other host":                      {func(r *Record) { r.Place.Host, r.Helper = "elsewhere", gone(r.Helper) }, Unknown},
		"other boot":                      {func(r *Record) { r.Place.Boot = "x"; r.Helper, r.Parent = gone(r.Helper), gone(r.Parent) }, Unknown},
		"other container":                 {func(r *Record) { r.Place.PIDNS = "x"; r.Helper, r.Parent = gone(r.Helper), gone(r.Parent) }, Unknown},
		"other time namespace":            {func(r *Record) { r.Place.TimeNS = "x"; r.Helper, r.Parent = gone(r.Helper), gone(r.Parent) }, Unknown},
		"machine id missing on both ends": {func(r *Record) { r.Place.Machine = ""; r.Helper, r.Parent = gone(r.Helper), gone(r.Parent) }, Unknown},
	} {
		r, from := sample(t), here
		c.change(&r)
		if r.Place.Machine == "" {
			from.Machine = ""
		}
		if got := r.Verdict(from); got != c.want {
			t.Errorf("a record of a holder with %q is judged %q, want %q: look at Verdict (owner.go)", name, got, c.want)
		}
	}
}

// TestVerdictOnDisk: where only this machine uses a disk, a boot id that differs ends a holder of
// before the last boot, and nobody who lives in a container that has a boot id of its own.
func TestVerdictOnDisk(t *testing.T) {
	machine, container := Here(), Here()
	machine.PIDNS, machine.TimeNS, machine.Boot = process.FirstPIDNS, process.FirstTimeNS, "boot"
	container.PIDNS, container.TimeNS, container.Boot = "pid:[4026532180]", process.FirstTimeNS, "boot of a container"
	sibling := container
	sibling.PIDNS, sibling.Boot = "pid:[4026532190]", "boot of a sibling"
	ended := func(r *Record) { r.Helper, r.Parent = gone(r.Helper), gone(r.Parent) }
	// long is some uptime that this machine has not reached.
	long := func(r *Record) { r.Helper.Start, r.Parent.Start = 1<<62, 1<<62 }
	for name, c := range map[string]struct {
		from, to Place
		change   func(*Record)
		want     Verdict
	}{
		"a holder of before the boot":                        {machine, machine, ended, Dead},
		"a holder of before the boot, of a long uptime":      {machine, machine, long, Dead},
		"the same, and nothing proves what it guards":        {machine, machine, func(r *Record) { long(r); r.NoProof = true }, Dead},
		"the same in a container":                            {sibling, container, long, Dead},
		"the same in a container, from outside":              {machine, container, long, Dead},
		"who lives, with a boot id of its own":               {machine, machine, func(*Record) {}, Unknown},
		"who lives in a sibling":                             {sibling, container, func(*Record) {}, Unknown},
		"whose helper is gone, in a sibling":                 {sibling, container, func(r *Record) { r.Helper = gone(r.Helper) }, Unknown},
		"who is hidden in a sibling":                         {sibling, container, ended, Unknown},
		"who is hidden in a container":                       {machine, container, ended, Unknown},
		"who is hidden outside of the container":             {container, machine, ended, Unknown},
		"a parent that lives, with a boot id of its own":     {machine, machine, func(r *Record) { r.Helper = gone(r.Helper) }, Unknown},
		"what nothing proves, with a boot id of its own":     {machine, machine, func(r *Record) { ended(r); r.NoProof = true }, Unknown},
		"a lifeline of another network namespace":            {machine, machine, func(r *Record) { ended(r); r.Parent, r.Lifeline = process.Process{}, "ffffffff01" }, Unknown},
		"another machine":                                    {machine, machine, func(r *Record) { long(r); r.Place.Machine = "x" }, Unknown},
		"another host name":                                  {machine, machine, func(r *Record) { long(r); r.Place.Host = "x" }, Unknown},
		"a shifted clock of the holder":                      {machine, machine, func(r *Record) { long(r); r.Place.TimeNS = "time:[4026532567]" }, Unknown},
		"a kernel whose sandboxes have a clock of their own": {machine, machine, func(r *Record) { long(r); r.Place.TimeNS = "" }, Unknown},
	} {
		r := sample(t)
		r.Place = c.to
		if c.from == c.to {
			r.Place.Boot = "another boot"
		}
		c.change(&r)
		if got := r.VerdictOnDisk(c.from); got != c.want {
			t.Errorf("%s is judged %q, want %q: look at VerdictOnDisk (owner.go)", name, got, c.want)
		}
	}
}

func TestCheckMeta(t *testing.T) {
	if err := CheckMeta("job"); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "Job", "a b", strings.Repeat("a", 28)} {
		if CheckMeta(bad) == nil {
			t.Errorf("%q accepted", bad)
		}
	}
}
