//go:build unix

package mkdirlock

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/owner"
	"locksmith/protocol"
	"locksmith/test/faulty"
)

// TestReap: each sort of thing that is old goes, and nothing else.
func TestReap(t *testing.T) {
	inPlace(t, func(t *testing.T, d *dated) {
		waiter := labels.Ticket{Lease: lease, ID: owner.NewID()}
		d.held(t, "P/dead", lease)
		scratch, inTree := labels.ScratchPrefix+owner.NewID(), "P/tree/"+labels.ScratchPrefix+owner.NewID()
		d.has(t, "P/empty", "P/L.r."+waiter.String(), "P/full", "P/full/letters", "P/"+scratch, "P/"+scratch+"/d0", "P/"+scratch+"/d0/xa",
			"P/tree", "P/tree/fence.1", inTree, inTree+"/d0")
		time.Sleep(2 * time.Hour)
		d.held(t, "P/held", lease)
		d.has(t, "P/young")
		before := d.All()
		dry := removal
		dry.Remove = false
		for name, r := range reaped(t, d, dry) {
			if want := slices.Contains([]string{"dead", "empty", "L.r." + waiter.String(), scratch, "tree"}, name); r.Due != want || r.Removed || (r.Note == "") != want {
				t.Errorf("a look finds %s: %+v", name, r)
			}
		}
		if after := d.All(); !slices.Equal(after, before) {
			t.Errorf("a look changed %q to %q", before, after)
		}
		reaped(t, d, removal)
		for _, name := range d.All() {
			if !strings.HasPrefix("P/full/letters", name) && !strings.HasPrefix(name, "P/held") && name != "P/young" && !strings.HasPrefix("P/tree/fence.1", name) {
				t.Errorf("%s is not removed", name)
			}
		}
		if n := len(d.All()); n != 9 {
			t.Errorf("%d names are left, want 9: %q", n, d.All())
		}
	})
}

// TestReapProvenDead: what an owner that is proven dead left is removed at once, without a watch
// and at any age.
func TestReapProvenDead(t *testing.T) {
	inPlace(t, func(t *testing.T, d *dated) {
		here := newHost("here", d, plain)
		want := func(name string, pid int) *attempt {
			l := here.lock()
			l.Name = "P/" + name
			a, err := l.Attempt(here.by(pid, "exclusive"))
			mustWork(t, err)
			return a.(*attempt)
		}
		mustHold(t, want("dead", 7))
		held, lives := mustHold(t, want("held", 8)), want("held", 8)
		for _, a := range []*attempt{lives, want("held", 7)} {
			mustBeHeldBy(t, a, held)
			mustWork(t, a.Wait(t.Context()))
		}
		here.Dead[7] = true
		place := placeOf(d)
		place.Judge = here.Judge
		all, err := place.Reap(t.Context(), backend.Reaping{MaxAge: 1000 * time.Hour, Remove: true, Clock: bubbleTime{}})
		mustWork(t, err)
		for _, r := range all {
			if mine := r.Holder.Record.Helper.PID == 7; r.Removed != mine {
				t.Errorf("reap without any age must remove what the dead left, and no more; it says %+v", r)
			}
		}
		mustStillHold(t, held)
		mustRelease(t, held)
		mustRelease(t, mustAcquire(t, lives))
		if left := d.All(); len(all) != 4 || len(left) != 1 {
			t.Errorf("reap found %d, want 4, and left %q", len(all), left)
		}
	})
}

// TestReapRefusesALock: reap refuses a lock as its place. In a lock of style=dir the tokens look
// like empty locks.
func TestReapRefusesALock(t *testing.T) {
	one := labels.Ticket{Lease: lease, ID: owner.NewID()}.String()
	for about, names := range map[string][]string{
		"tokens":      {"P/fence.2", "P/lock"},
		"reservation": {"P/r." + one},
		"held, plain": {"P/x." + one, "P/x." + one + "/1.1.x"},
	} {
		t.Run(name(about), func(t *testing.T) {
			inPlace(t, func(t *testing.T, d *dated) {
				d.has(t, names...)
				time.Sleep(1000 * time.Hour)
				before := d.All()
				_, err := placeOf(d).Reap(t.Context(), removal)
				mustFail(t, err, protocol.Usage, "the lock mkdir:/srv/P it is mkdir:/srv")
				if after := d.All(); !slices.Equal(after, before) {
					t.Errorf("a reap that was refused changed %q to %q", before, after)
				}
			})
		})
	}
	place := placeOf(newMemory(habits{}))
	place.Style = DirStyle
	_, err := place.Reap(t.Context(), removal)
	mustFail(t, err, protocol.Usage, "?style=dir")
}

// TestReapMakesNothing: without --yes, reap makes nothing in a place for locks. And it never
// makes anything in a lock: the lock's time would change, and its holder could not remove it
// meanwhile.
func TestReapMakesNothing(t *testing.T) {
	one := labels.Ticket{Lease: lease, ID: owner.NewID()}.String()
	for about, c := range map[string]struct {
		names  []string
		remove bool
		code   protocol.Code
	}{
		"a place":               {[]string{"P/a", "P/b"}, false, ""},
		"a lock":                {[]string{"P/x." + one, "P/x." + one + "/1.1.x"}, false, protocol.Usage},
		"a lock, to remove":     {[]string{"P/x." + one, "P/x." + one + "/1.1.x"}, true, protocol.Usage},
		"a script's":            {nil, false, ""},
		"a script's, to remove": {nil, true, ""},
	} {
		t.Run(name(about), func(t *testing.T) {
			inPlace(t, func(t *testing.T, d *dated) {
				d.has(t, c.names...)
				time.Sleep(2 * time.Hour)
				made := d.changed["P"]
				r := removal
				r.Remove = c.remove
				_, err := placeOf(d).Reap(t.Context(), r)
				if c.code != "" {
					mustFail(t, err, c.code, "name the directory that locks are in")
				} else {
					mustWork(t, err)
				}
				if now := d.changed["P"]; !now.Equal(made) {
					t.Errorf("reap changed the directory, which is %v younger", now.Sub(made))
				}
			})
		})
	}
}

// TestReapMissing: a place that is missing is an error, even if the server lists it as an empty
// one.
func TestReapMissing(t *testing.T) {
	for _, h := range []habits{{}, {missingIsEmpty: true}} {
		for _, remove := range []bool{false, true} {
			r := removal
			r.Remove = remove
			_, err := placeOf(newDated(newMemory(h))).Reap(t.Context(), r)
			mustFail(t, err, protocol.CannotCreate, "")
		}
	}
}

// TestReapLooksWithoutTime: reap that only looks does not learn the server's time, and takes
// nothing for older than it surely is.
func TestReapLooksWithoutTime(t *testing.T) {
	for _, c := range []struct {
		passes time.Duration
		due    bool
		says   string
	}{
		{12 * time.Hour, false, "too young, as far as can be told without the server's time, for which --yes makes a directory"},
		{13*time.Hour + time.Minute, true, ""},
	} {
		inPlace(t, func(t *testing.T, d *dated) {
			d.has(t, "P/a")
			time.Sleep(c.passes)
			r := removal
			r.Remove = false
			if a := reaped(t, d, r)["a"]; a.Due != c.due || a.Note != c.says || a.Age != c.passes-dirs.FarthestWest {
				t.Errorf("a look after %v finds %+v", c.passes, a)
			}
		})
	}
}

// TestReapLockOfTheName: a plain lock may be called lock, but an empty directory of that name may
// also be part of another lock.
func TestReapLockOfTheName(t *testing.T) {
	inPlace(t, func(t *testing.T, d *dated) {
		d.has(t, "P/lock", "P/empty")
		time.Sleep(2 * time.Hour)
		found := reaped(t, d, removal)
		if r := found["lock"]; r.What != backend.ReapedOther || r.Due || !strings.Contains(r.Note, "rmdir") {
			t.Errorf("reap of an empty directory called lock says %+v", r)
		}
		if !found["empty"].Removed {
			t.Errorf("reap does not remove an old empty lock: %+v", found)
		}
	})
}

// TestReapOddDirectory: a directory that cannot be listed does not keep reap from the others.
func TestReapOddDirectory(t *testing.T) {
	notAName := (&Lock{Address: "ftp://h/P"}).Address.Usage("name b", "a name holds control characters", "")
	for about, cause := range map[string]error{"denied": unix.EACCES, "refused": dirs.Outcome(unix.ENOENT), "not a name": notAName} {
		t.Run(name(about), func(t *testing.T) {
			inPlace(t, func(t *testing.T, d *dated) {
				d.has(t, "P/a", "P/b", "P/c")
				odd := d.held(t, "P/d", lease)
				time.Sleep(2 * time.Hour)
				d.hook = func(o faulty.Call) error {
					if o.Op == "entries" && o.Name == "P/b" || o.Name == odd && about == "denied" {
						return cause
					}
					return o.Do()
				}
				found := reaped(t, d, removal)
				if !found["a"].Removed || !found["c"].Removed || found["d"].Removed != (about != "denied") {
					t.Errorf("reap stops at a directory that cannot be listed: %+v", found)
				}
				if r := found["d"]; about == "denied" && (r.Due || !strings.Contains(r.Note, "cannot be looked at")) {
					t.Errorf("of an entry that cannot be looked at reap says %+v", r)
				}
				if r := found["b"]; r.What != backend.ReapedOther || r.Due || !strings.Contains(r.Note, backend.Reason(cause)) {
					t.Errorf("of a directory that cannot be listed reap says %+v", r)
				}
			})
		})
	}
}

// TestReapServerGone: when the server is gone, no other directory can be listed either. Nothing
// is removed, and what was seen is told.
func TestReapServerGone(t *testing.T) {
	inPlace(t, func(t *testing.T, d *dated) {
		d.has(t, "P/a", "P/b")
		time.Sleep(2 * time.Hour)
		d.hook = func(o faulty.Call) error {
			if o.Name == "P/b" {
				return errors.Join(dirs.ErrUnclear, errors.New("connection reset"))
			}
			return o.Do()
		}
		all, err := placeOf(d).Reap(t.Context(), removal)
		mustFail(t, err, protocol.Unreachable, "connection reset")
		if len(all) != 1 || all[0].Removed || !strings.Contains(all[0].Note, "broken off") {
			t.Errorf("after the server went, reap says %+v", all)
		}
		if left := d.All(); !slices.Equal(left, []string{"P", "P/a", "P/b"}) {
			t.Errorf("a reap without a server changed the place to %q", left)
		}
	})
}

// TestReapMinutes: times to the minute are local, and an hour is skipped when summer time begins.
// That is at night, and never between two times that are less than an hour apart.
func TestReapMinutes(t *testing.T) {
	for _, c := range []struct {
		made, passes, maxAge, age time.Duration
		removed                   bool
	}{
		{0, 7 * time.Minute, 5 * time.Minute, 6 * time.Minute, true},
		{12 * time.Hour, 7 * time.Minute, 6 * time.Minute, 6 * time.Minute, false},
		{90 * time.Minute, 59 * time.Minute, time.Hour, 58 * time.Minute, false},
		{90 * time.Minute, 75 * time.Minute, time.Hour, 14 * time.Minute, false}, // 1:30, 2:45
		{90 * time.Minute, 125 * time.Minute, time.Hour, 64 * time.Minute, true},
		{3 * time.Hour, 75 * time.Minute, time.Hour, 14 * time.Minute, false},
		{4 * time.Hour, 75 * time.Minute, time.Hour, 74 * time.Minute, true},
		{20 * time.Hour, 119 * time.Minute, time.Hour, 118 * time.Minute, true},
		{20 * time.Hour, 120 * time.Minute, time.Hour, 59 * time.Minute, false},
		{12 * time.Hour, 24 * time.Hour, time.Hour, 24*time.Hour - 61*time.Minute, true},
	} {
		t.Run(name(c.made, " ", c.passes), func(t *testing.T) {
			inPlace(t, func(t *testing.T, d *dated) {
				d.minutes = true
				time.Sleep(c.made)
				d.has(t, "P/a")
				time.Sleep(c.passes)
				r := removal
				r.MaxAge = c.maxAge
				if a := reaped(t, d, r)["a"]; a.Removed != c.removed || a.Age != c.age {
					t.Errorf("with times to the minute reap says %+v", a)
				}
			})
		})
	}
}

// A dated Dir is a memory that tells when each directory last changed, and passes each call
// through a hook. "P" in it is the directory of locks.
type dated struct {
	*memory
	hook    faulty.Hook // nil until a test has one
	minutes bool        // to the minute only
	mu      sync.Mutex
	changed map[string]time.Time
}

func newDated(m *memory) *dated {
	return &dated{memory: m, changed: map[string]time.Time{}}
}

func (d *dated) Mkdir(ctx context.Context, name string) error {
	return d.hook.Make("mkdir", name, "", func() error {
		return d.touch(d.memory.Mkdir(ctx, name), name, path.Dir(name))
	})
}

func (d *dated) Rmdir(ctx context.Context, name string) error {
	return d.hook.Make("rmdir", name, "", func() error {
		return d.touch(d.memory.Rmdir(ctx, name), path.Dir(name))
	})
}

func (d *dated) Rename(ctx context.Context, from, to string) error {
	return d.hook.Make("rename", from, to, func() error {
		return d.touch(d.memory.Rename(ctx, from, to), path.Dir(from), path.Dir(to))
	})
}

func (d *dated) List(ctx context.Context, name string) ([]string, error) {
	return faulty.Ask(d.hook, "list", name, func() ([]string, error) { return d.memory.List(ctx, name) })
}

func (d *dated) Entries(ctx context.Context, name string) ([]dirs.Entry, error) {
	return faulty.Ask(d.hook, "entries", name, func() (all []dirs.Entry, err error) {
		names, err := d.memory.List(ctx, name)
		for _, n := range names {
			all = append(all, d.entry(name, n))
		}
		return all, err
	})
}

func (d *dated) entry(in, name string) dirs.Entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := dirs.Entry{Name: name, Dir: true, Modified: d.changed[path.Join(in, name)], Precise: !d.minutes}
	if d.minutes {
		e.Modified = e.Modified.Truncate(time.Minute)
	}
	return e
}

func (d *dated) touch(err error, names ...string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range names {
		if err == nil {
			d.changed[path.Clean(name)] = time.Now()
		}
	}
	return err
}

// has makes directories, past the hook.
func (d *dated) has(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		mustWork(t, d.touch(d.memory.Mkdir(t.Context(), name), name, path.Dir(name)))
	}
}

// held makes a lock with an entry of an unknown owner that has made one heartbeat. It returns the
// path of the entry.
func (d *dated) held(t *testing.T, name string, lease time.Duration) string {
	t.Helper()
	e := name + "/" + labels.Entry{Kind: labels.Exclusive, Ticket: labels.Ticket{Lease: lease, ID: owner.NewID()}}.String()
	d.has(t, name, e, e+"/1.1.x")
	return e
}

// beats moves a heartbeat, past the hook.
func (d *dated) beats(t *testing.T, entry string) {
	t.Helper()
	mustWork(t, d.touch(d.memory.Rename(t.Context(), entry+"/1.1.x", entry+"/2.1.x"), entry))
}

// replaced puts somebody else's lock of the same name in its place, past the hook.
func (d *dated) replaced(t *testing.T, name string) {
	t.Helper()
	mustWork(t, d.memory.Rmdir(t.Context(), name))
	d.has(t, name)
}

func placeOf(d dirs.Dir) *Lock {
	return &Lock{
		NewDir: func() dirs.Dir { return d }, Name: "P", Address: "mkdir:/srv/P", Env: owner.Env{NewID: owner.NewID, Today: time.Now,
			Judge: func(owner.Record) owner.Verdict { return owner.Unknown }},
	}
}

// removal asks to remove what is older than an hour.
var removal = backend.Reaping{MaxAge: time.Hour, Remove: true, Watch: time.Minute, Clock: bubbleTime{}}

// reaped reaps P, and returns what is said of each thing in it.
func reaped(t *testing.T, d dirs.Dir, r backend.Reaping) map[string]backend.Reaped {
	t.Helper()
	all, err := placeOf(d).Reap(t.Context(), r)
	mustWork(t, err)
	return byPath(all)
}

func byPath(all []backend.Reaped) map[string]backend.Reaped {
	by := map[string]backend.Reaped{}
	for _, r := range all {
		first, _, _ := strings.Cut(r.Path, "/")
		by[first] = r
	}
	return by
}

// inPlace runs a test in a bubble with an empty directory of locks.
func inPlace(t *testing.T, test func(*testing.T, *dated)) {
	t.Helper()
	inBubble(t, func(t *testing.T, m *memory) {
		d := newDated(m)
		d.has(t, "P")
		test(t, d)
	})
}
