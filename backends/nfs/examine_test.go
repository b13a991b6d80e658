//go:build unix

package nfs

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/generation/symlinks"
	"locksmith/protocol"
)

// A spoilt directory answers some calls wrongly.
type spoilt struct {
	symlinks.Dir
	mkdir   func(string) error
	rmdir   func(string) error
	rename  func(from, to string) error
	symlink func(target, name string) error
	read    func(string) (string, error)
	touch   func(string) error
	list    func(string) ([]string, error)
}

func (s spoilt) Mkdir(_ context.Context, name string) error              { return s.mkdir(name) }
func (s spoilt) Rmdir(_ context.Context, name string) error              { return s.rmdir(name) }
func (s spoilt) Rename(_ context.Context, from, to string) error         { return s.rename(from, to) }
func (s spoilt) Symlink(_ context.Context, target, name string) error    { return s.symlink(target, name) }
func (s spoilt) Readlink(_ context.Context, name string) (string, error) { return s.read(name) }
func (s spoilt) Touch(_ context.Context, name string) error              { return s.touch(name) }
func (s spoilt) List(_ context.Context, name string) ([]string, error)   { return s.list(name) }

// honest is a spoilt directory that answers all calls rightly, as yet.
func honest(ctx context.Context, dir *directory) *spoilt {
	return &spoilt{
		Dir:     dir,
		mkdir:   func(name string) error { return dir.Mkdir(ctx, name) },
		rmdir:   func(name string) error { return dir.Rmdir(ctx, name) },
		rename:  func(from, to string) error { return dir.Rename(ctx, from, to) },
		symlink: func(target, name string) error { return dir.Symlink(ctx, target, name) },
		read:    func(name string) (string, error) { return dir.Readlink(ctx, name) },
		touch:   func(name string) error { return dir.Touch(ctx, name) },
		list:    func(name string) ([]string, error) { return dir.List(ctx, name) },
	}
}

// always says that the call succeeded, whatever happened.
func always(call func(string) error) func(string) error {
	return func(name string) error {
		_ = call(name)
		return nil
	}
}

func denied(string) error { return unix.EACCES }

// TestExamineFinds: the right check tells of each thing that may be wrong.
func TestExamineFinds(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*spoilt)
		check string
		says  string
	}{
		"mkdir denied":       {func(s *spoilt) { s.mkdir = denied }, "make directories", "permission denied"},
		"mkdir twice":        {func(s *spoilt) { s.mkdir = always(s.mkdir) }, "make directories", "made again"},
		"rmdir denied":       {func(s *spoilt) { s.rmdir = denied }, "remove directories", "ever released"},
		"rmdir denied, told": {func(s *spoilt) { s.rmdir = denied }, "clean up", "stays"},
		"rmdir twice": {func(s *spoilt) {
			rmdir := s.rmdir
			s.rmdir = func(name string) error {
				if err := rmdir(name); err != unix.ENOENT {
					return err
				}
				return nil
			}
		}, "remove directories", "removed again"},
		"rmdir removes all": {func(s *spoilt) {
			s.rmdir = func(name string) error { return os.RemoveAll(s.Dir.(*directory).at(name)) }
		}, "remove directories", "with what was in it"},
		"no links": {func(s *spoilt) { s.symlink = func(string, string) error { return unix.EPERM } }, "symbolic links", "instead of nfs:"},
		"links twice": {func(s *spoilt) {
			symlink := s.symlink
			s.symlink = func(target, name string) error {
				_ = symlink(target, name)
				return nil
			}
		}, "symbolic links", "two would hold"},
		"links together": {func(s *spoilt) {
			symlink := s.symlink
			s.symlink = func(target, name string) error {
				if err := symlink(target, name); target != "b" {
					return err
				}
				return nil
			}
		}, "two make the same", "2 of two"},
		"links read otherwise": {func(s *spoilt) { s.read = func(string) (string, error) { return "y", nil } }, "symbolic links", "not"},
		"rename denied":        {func(s *spoilt) { s.rename = func(string, string) error { return unix.EACCES } }, "rename", "shared locks need it"},
		"rename copies":        {func(s *spoilt) { s.rename = func(_, to string) error { return s.Dir.Mkdir(t.Context(), to) } }, "rename", "old name"},
		"touch denied":         {func(s *spoilt) { s.touch = denied }, "heartbeat", "cannot be set"},
		"touch in vain":        {func(s *spoilt) { s.touch = func(string) error { return nil } }, "heartbeat", "taken for dead"},
		"listing stale":        {func(s *spoilt) { s.list = func(string) ([]string, error) { return nil, nil } }, "listing", "not listed"},
	} {
		find := func(t *testing.T) {
			dir := &directory{path: t.TempDir()}
			s := honest(t.Context(), dir)
			c.spoil(s)
			var all []backend.Check
			tell := func(c backend.Check) { all = append(all, c) }
			if err := symlinks.Examine(t.Context(), *s, dir.path, tell, func(_ string, err error) error { return err }); err != nil {
				t.Error(err)
			}
			i := slices.IndexFunc(all, func(k backend.Check) bool { return k.Name == c.check })
			want := backend.Unfit
			if c.check == "clean up" {
				want = backend.Weak
			}
			if i < 0 || all[i].Finding != want || !strings.Contains(all[i].Text+"\n"+all[i].Advice, c.says) || all[i].Advice == "" {
				t.Errorf("the check %s must say %q; doctor finds %+v", c.check, c.says, all)
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.check == "heartbeat" { // this check looks for seconds
				synctest.Test(t, find)
			} else {
				find(t)
			}
		})
	}
}

func examined(t *testing.T, path string) ([]backend.Check, error) {
	t.Helper()
	var all []backend.Check
	err := openLock(t, path).Examine(t.Context(), backend.Examination{}, func(c backend.Check) { all = append(all, c) })
	return all, err
}

// TestExamine: a good place is found good, and left as it was; and so is a lock
// that somebody holds.
func TestExamine(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	mustBeFit := func(want ...string) {
		t.Helper()
		all, err := examined(t, path)
		bad := slices.DeleteFunc(slices.Clone(all), func(c backend.Check) bool {
			return c.Finding == backend.Fit || c.Finding == backend.Weak && (c.Name == "file system" || c.Name == "cleaning")
		})
		if err != nil || len(bad) > 0 || len(all) < 11 {
			t.Errorf("doctor of a good place: %v, not fit: %+v; all: %+v", err, bad, all)
		}
		if names, err := (&directory{path: dir}).List(t.Context(), "."); err != nil || !slices.Equal(names, want) {
			t.Errorf("doctor changed a good place: %q, %v", names, err)
		}
	}
	mustBeFit()
	h, err := attemptAt(t, path, "exclusive").Try(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mustBeFit("lock")
	if err := h.Heartbeat(t.Context()); err != nil {
		t.Error(err)
	}
	if names, err := (&directory{path: path}).List(t.Context(), "."); err != nil || len(names) != 2 {
		t.Errorf("left in the lock: %q, %v", names, err)
	}
}

func TestExamineWrongPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(file, "lock"), filepath.Join(t.TempDir(), "none/lock")} {
		all, err := examined(t, path)
		if err != nil || backend.Verdict(all) != backend.Unfit || all[0].Advice == "" {
			t.Errorf("doctor of %s: %v, %+v; want unfit, with advice", path, err, all)
		}
	}
}

// TestExamineBreaksOff: an examination that breaks off leaves nothing, and a place that does not
// answer is not called unfit.
func TestExamineBreaksOff(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	dir := &directory{path: t.TempDir()}
	s := honest(t.Context(), dir)
	s.touch = func(string) error { cancel(); return nil }
	examine := func(ctx context.Context) error {
		return symlinks.Examine(ctx, *s, dir.path, func(backend.Check) {}, openLock(t, dir.path).(*lock).Fail)
	}
	if err := examine(ctx); err == nil {
		t.Error("doctor went on after its context had ended")
	}
	s.symlink = func(string, string) error { return unix.EIO }
	if err := examine(t.Context()); backend.CodeOf(err) != protocol.Unreachable {
		t.Error(err)
	}
	if names, err := dir.List(t.Context(), "."); err != nil || len(names) > 0 {
		t.Errorf("a doctor that broke off left %q, %v", names, err)
	}
}
