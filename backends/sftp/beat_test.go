//go:build unix

package sftp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

// TestBeats: each heartbeat sets a time that is a whole second later than the last one, and near
// the server's now, even at the shortest allowed interval.
func TestBeats(t *testing.T) {
	t.Parallel()
	f := startFake(t)
	d := newSymlinkDir(f.server(t, testAddress).newSession("."), false)
	defer d.close()
	backendtest.MustWork(t, d.Mkdir(t.Context(), "own"))
	last := time.Time{}
	for range 5 {
		backendtest.MustWork(t, d.Touch(t.Context(), "own"))
		seen, err := os.Stat(filepath.Join(f.dir, "own"))
		if err != nil {
			t.Fatal(err)
		}
		if !last.IsZero() && seen.ModTime().Sub(last) < time.Second {
			t.Errorf("the heartbeat's time is %v after %v, want a second more at least", seen.ModTime(), last)
		}
		last = seen.ModTime()
		if off := time.Until(last); off.Abs() > time.Minute {
			t.Errorf("%v away from the server's now", off)
		}
	}
}

// knowsLsetstat makes the fake know lsetstat.
func (f *fake) knowsLsetstat() *fake {
	f.extensions = append(f.extensions, lsetstat, "1")
	return f.when(func(r *asking) bool {
		in := r.body
		if r.kind != typeExtended || in.string() != lsetstat {
			return false
		}
		path := f.at(in.string())
		at := unix.Timeval{Sec: int64(in.attrs().modified)} // the client's reader leaves the time of access out
		r.status(unix.Lutimes(path, []unix.Timeval{at, at}))
		return true
	})
}

// TestKeepLeavesFiles: what a held lock needs is a link and directories. A hard link to somebody's
// file in their place keeps its times.
func TestKeepLeavesFiles(t *testing.T) {
	t.Parallel()
	f := startFake(t).knowsLsetstat()
	d := newSymlinkDir(f.server(t, testAddress).newSession("."), false)
	defer d.close()
	victim, old := filepath.Join(t.TempDir(), "victim"), time.Now().Add(-48*time.Hour).Truncate(time.Second)
	backendtest.MustWork(t, os.WriteFile(victim, nil, 0o600), os.Chtimes(victim, old, old),
		os.Link(victim, filepath.Join(f.dir, "link")), os.Link(victim, filepath.Join(f.dir, "record")),
		os.Mkdir(filepath.Join(f.dir, "own"), 0o777), os.Mkdir(filepath.Join(f.dir, "kept"), 0o777),
		os.Chtimes(filepath.Join(f.dir, "kept"), old, old), d.Touch(t.Context(), "own")) // from which it learns the server's clock
	d.Keep(t.Context(), "link", "record", "kept")
	for name, want := range map[string]bool{victim: false, filepath.Join(f.dir, "kept"): true} {
		var st unix.Stat_t
		backendtest.MustWork(t, unix.Lstat(name, &st))
		if kept := st.Mtim.Sec != old.Unix() || st.Atim.Sec != old.Unix(); kept != want {
			t.Errorf("Keep sets the times of %s: %v, want %v", filepath.Base(name), kept, want)
		}
	}
}

// TestTimesThatAreIgnored: a server that says that it set a time, and did not, is no place for
// locks.
func TestTimesThatAreIgnored(t *testing.T) {
	t.Parallel()
	f := startFake(t).when(func(r *asking) bool {
		if r.kind == typeSetstat {
			r.status(nil)
		}
		return r.kind == typeSetstat
	})
	d := newSymlinkDir(f.server(t, testAddress).newSession("."), false)
	defer d.close()
	backendtest.MustWork(t, d.Mkdir(t.Context(), "own"))
	if err := d.Touch(t.Context(), "own"); !errors.Is(err, syscall.EOPNOTSUPP) {
		t.Error(err)
	}
}

// TestRewrittenLinks: a server that changes what links point to is refused with a hint, before
// any part of a lock is made.
func TestRewrittenLinks(t *testing.T) {
	t.Parallel()
	f := startFake(t).when(func(r *asking) bool {
		if r.kind == typeReadlink {
			r.to(newPacket(typeName).uint32(r.id).uint32(1).string("/home/u/a/b/c").string("").attrs(attrs{}))
		}
		return r.kind == typeReadlink
	})
	a, err := f.open(t).Attempt(backendtest.Request())
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Try(t.Context())
	backendtest.MustFail(t, err, "cannot_create", "?style=dir")
	backendtest.MustWithdraw(t, a)
	if left, _ := os.ReadDir(f.dir); len(left) > 0 {
		t.Errorf("a server that is refused has something of a lock: %v", left)
	}
}

// TestFailedHeartbeat: a server that could set the time before, and fails now, may do so again: its
// disk has a fault, or is away. A waiter waits for that.
func TestFailedHeartbeat(t *testing.T) {
	t.Parallel()
	f := startFake(t)
	first, err := f.open(t).Attempt(backendtest.Request())
	backendtest.MustWork(t, err)
	holder := backendtest.MustHold(t, first)
	ctx, cancel := context.WithTimeout(t.Context(), lab.Patience)
	defer cancel()
	var times atomic.Int32
	f.when(func(r *asking) bool {
		if r.kind != typeSetstat || times.Add(1) == 1 {
			return false
		}
		r.code(statusFailure)
		if times.Load() > 2 { // it has tried again
			cancel()
		}
		return true
	})
	r := backendtest.Request()
	r.Owner.Lease = 10 * time.Second // the first heartbeat comes soon, and a busy machine has long to send it
	a, err := f.open(t).Attempt(r)
	backendtest.MustWork(t, err)
	backendtest.MustBeHeld(t, a)
	if err := a.Wait(ctx); ctx.Err() == nil || times.Load() < 3 {
		t.Errorf("the wait ends with %v after %d heartbeats", err, times.Load())
	}
	backendtest.MustWithdraw(t, a)
	backendtest.MustRelease(t, holder)
}

// TestMountedDisk: the server's disk may be a mount that remembers what its directories were like,
// until they are opened. Of a holder on another host a look shows each heartbeat.
func TestMountedDisk(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	remembered := map[string]attrs{}
	f := startFake(t).when(func(r *asking) bool {
		mu.Lock()
		defer mu.Unlock()
		switch r.kind {
		case typeOpendir:
			delete(remembered, r.path)
		case typeLstat:
			if st, err := os.Lstat(r.path); err == nil && remembered[r.path].flags == 0 {
				remembered[r.path] = told(st)
			}
			if a := remembered[r.path]; a.flags != 0 {
				r.to(newPacket(typeAttrs).uint32(r.id).attrs(a))
				return true
			}
		}
		return false
	})
	d := newSymlinkDir(f.server(t, testAddress).newSession("."), false)
	defer d.close()
	other := filepath.Join(f.dir, "other")
	backendtest.MustWork(t, os.Mkdir(other, 0o777))
	for n := range 3 {
		beat := time.Unix(1_000_000+int64(n), 0)
		backendtest.MustWork(t, os.Chtimes(other, beat, beat))
		if seen, err := d.Look(t.Context(), "other"); err != nil || !seen.Modified.Equal(beat) {
			t.Errorf("after heartbeat %d a look shows %v, %v", n, seen, err)
		}
	}
	backendtest.MustWork(t, os.Remove(other))
	if _, err := d.Look(t.Context(), "gone"); !errors.Is(err, syscall.ENOENT) {
		t.Error(err)
	}
}
