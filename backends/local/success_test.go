//go:build unix

package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/lockfile"
	"locksmith/backends/shelf"
	"locksmith/protocol"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

// lastSuccess is the success that a look at the lock shows.
func lastSuccess(l *Lock) *backend.Success {
	var r backend.Report
	_ = l.OnShelf(context.Background(), nil, func(s shelf.Shelf) error { shelf.Tell(context.Background(), s, &r, time.Now()); return nil })
	return r.Success
}

// TestStrangeSuccess: a file in the place of a success that is not one of ours does not count,
// and does no harm. It is replaced if we may have begun it.
func TestStrangeSuccess(t *testing.T) {
	const good = "SUCCESS v=1 host=web3\n"
	write := func(text string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(text), 0o644) }
	}
	unfinished := func(text string) func(string) error {
		return func(path string) error {
			f, err := lockfile.Create(path)
			if err != nil {
				return err
			}
			return errors.Join(f.Write(text), f.Close())
		}
	}
	for name, c := range map[string]struct {
		make    func(path string) error
		counts  bool
		remains bool
	}{
		"a success":       {write(good), true, false},
		"of later":        {write("SUCCESS v=1 host=web3 more=1\n"), true, false},
		"nothing in it":   {write(""), false, true},
		"begun":           {unfinished(""), false, false},
		"begun to write":  {unfinished("SUCC"), false, false},
		"torn":            {write(good[:9]), false, false},
		"another version": {write("SUCCESS v=2 host=web3\n"), false, false},
		"endless":         {write(strings.Repeat(good, 1<<16)), false, false},
		"a record": {func(path string) error {
			return os.WriteFile(path, []byte("LOCK v=1 id=x\n"), 0o644)
		}, false, true},
		"a user's file": {write("42 bills\n"), false, true},
		"a link": {func(path string) error {
			return errors.Join(os.WriteFile(path+".x", []byte(good), 0o644), os.Symlink(path+".x", path))
		}, false, true},
		"a hard link": {func(path string) error {
			return errors.Join(os.WriteFile(path+".x", []byte(good), 0o644), os.Link(path+".x", path))
		}, false, false},
		"a FIFO":      {func(path string) error { return unix.Mkfifo(path, 0o644) }, false, true},
		"a directory": {func(path string) error { return os.MkdirAll(path+"/x", 0o755) }, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lock")
			l := openLock(t, path).(*Lock)
			backendtest.MustWork(t, c.make(path+lockfile.SuccessSuffix))
			h := mustHold(t, attemptAt(t, path, backendtest.Request()))
			defer mustRelease(t, h)
			last, err := shelf.Last(t.Context(), l, h)
			if err != nil || (last != nil) != c.counts || last != nil && last.Host != "web3" {
				t.Errorf("LastSuccess gives %v and the error %v; that the file counts must be %v", last, err, c.counts)
			}
			if err := shelf.Record(t.Context(), l, h); (err != nil) != c.remains {
				t.Errorf("RecordSuccess beside such a file returns %v, want an error: %v", err, c.remains)
			}
			_, err = os.Lstat(path + lockfile.SuccessSuffix)
			backendtest.MustWork(t, err)
			if last, err := shelf.Last(t.Context(), l, h); err != nil || (last == nil) != c.remains {
				t.Errorf("after RecordSuccess the last success is %v with the error %v, want none: %v", last, err, c.remains)
			}
		})
	}
}

// TestSuccessThatCannotBeRead: if no descriptor is left to read the last success, that is an error. It
// does not mean that there is none.
func TestSuccessThatCannotBeRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l := openLock(t, path).(*Lock)
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	defer mustRelease(t, h)
	backendtest.MustWork(t, shelf.Record(t.Context(), l, h))
	restore := lab.FewDescriptors(t, 0)
	last, err := shelf.Last(t.Context(), l, h)
	restore()
	mustFail(t, err, protocol.Internal, "last success")
	if last != nil {
		t.Errorf("beside its error LastSuccess gives %v, want nil", last)
	}
	if last, err := shelf.Last(t.Context(), l, h); last == nil || err != nil {
		t.Errorf("with descriptors LastSuccess gives %v and the error %v, want the success", last, err)
	}
}

// TestSuccessStays: there is a success at every moment while the next one is written, and if
// that comes to nothing.
func TestSuccessStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l := openLock(t, path).(*Lock)
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	defer mustRelease(t, h)
	backendtest.MustWork(t, shelf.Record(t.Context(), l, h))
	written := make(chan error, 1)
	go func() {
		var err error
		for range 500 {
			err = errors.Join(err, shelf.Record(t.Context(), l, h))
		}
		written <- err
	}()
	looks, missed := 0, 0
	for done := false; !done; looks++ {
		if lastSuccess(l) == nil {
			missed++
		}
		select {
		case err := <-written:
			done = true
			backendtest.MustWork(t, err)
		default:
		}
	}
	if missed > 0 {
		t.Errorf("while successes are recorded, %d of %d looks found none, want that each finds the old or the new", missed, looks)
	}
	beside := path + lockfile.SuccessSuffix + lockfile.UnfinishedSuffix
	bills := func() { backendtest.MustWork(t, os.WriteFile(beside, []byte("42 bills\n"), 0o644)) }
	bills()
	if err := shelf.Record(t.Context(), l, h); err == nil || !strings.Contains(err.Error(), beside) || lastSuccess(l) == nil {
		t.Errorf("beside a user's file: %v, and %v is on record", err, lastSuccess(l))
	}
	for _, begun := range []string{"", "SUCC", "SUCCESS v=1 ho", "SUCCESS v=1 host=web3\n"} { // by one that was killed
		backendtest.MustWork(t, os.Remove(beside))
		f, err := lockfile.Create(beside)
		backendtest.MustWork(t, err, f.Write(begun), f.Close())
		if found := listed(t, filepath.Dir(path), true); len(found) != 1 {
			t.Errorf("beside a half-written success %q the listing has %q, want the lock alone", begun, found)
		}
		backendtest.MustWork(t, shelf.Record(t.Context(), l, h))
		if _, err := os.Lstat(beside); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a half-written success %q stays after the next was recorded: %v", begun, err)
		}
		bills()
	}
}

// TestStrangersSuccess: where everybody may make files, only our own successes and root's count.
func TestStrangersSuccess(t *testing.T) {
	lab.NeedRoot(t)
	dir := backendtest.PublicDir(t, 0o777|os.ModeSticky)
	path := filepath.Join(dir, "lock")
	backendtest.MustWork(t, os.WriteFile(path+lockfile.SuccessSuffix, []byte("SUCCESS v=1 host=web3\n"), 0o644))
	l := openLock(t, path).(*Lock)
	if lastSuccess(l) == nil {
		t.Error("root's does not count")
	}
	backendtest.MustWork(t, os.Lchown(path+lockfile.SuccessSuffix, 12345, 12345))
	if last := lastSuccess(l); last != nil {
		t.Errorf("a stranger's counts: %v", last)
	}
	backendtest.MustWork(t, os.Chmod(dir, 0o770))
	if lastSuccess(l) == nil {
		t.Error("in a group's directory only its maker's counts")
	}
}

// TestSuccessOfTheFuture: a success later than the clock is reported as such.
func TestSuccessOfTheFuture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l := openLock(t, path).(*Lock)
	h := mustHold(t, attemptAt(t, path, backendtest.Request()))
	defer mustRelease(t, h)
	backendtest.MustWork(t, shelf.Record(t.Context(), l, h))
	for _, ago := range []time.Duration{-time.Hour, time.Hour} {
		then := time.Now().Add(-ago)
		backendtest.MustWork(t, os.Chtimes(path+lockfile.SuccessSuffix, then, then))
		if last, err := shelf.Last(t.Context(), l, h); err != nil || last == nil || (last.Ago-ago).Abs() > time.Minute {
			t.Errorf("%v, %v, want %v", last, err, ago)
		}
	}
}
