//go:build unix

package nfs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/backends/owner"
	"locksmith/protocol"
	"locksmith/test/backendtest"
)

// hostileNames are names that no locksmith makes.
func hostileNames() []string {
	id := owner.NewID()
	return []string{
		"notes.txt", "\x1b[2Jx", "a\nb", "\xff\xfe", "...", strings.Repeat("y", 255), "x.", "x.1", "lock", "lock.", "lock.-1", "lock.01", "lock.1x",
		"lock.99999999999999999999999", "i.", "p.", "s.1-2-3", ".nfs0000000000000001", "x.99999999999999999999-1-60000-" + id,
		"x.1-1-1-" + id, "s.1-1-60000-" + strings.ToUpper(id), "t.1-1-60000-.._.._" + id,
	}
}

// TestForeignEntries: what others put into the three directories is ignored and left alone.
func TestForeignEntries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	mustWork(t, try(t, path, "exclusive"))
	var put []string
	for _, dir := range []string{path, filepath.Join(path, "R"), filepath.Join(path, "G")} {
		put = append(put, backendtest.Clutter(t, dir, hostileNames())...)
	}
	for range 2 {
		for _, mode := range modes() {
			h := mustHold(t, attemptAt(t, path, mode))
			mustBeHeld(t, attemptAt(t, path, "exclusive"))
			mustWork(t, h.Tend(t.Context()))
			if r := inspect(t, path); len(r.Holders) != 1 || len(r.Waiters) != 1 {
				t.Errorf("Read sees %+v, want one holder and one waiter", r)
			}
			mustRelease(t, h)
			removeWaiters(t, path)
		}
	}
	backendtest.MustBeThere(t, put)
}

func removeWaiters(t *testing.T, path string) {
	t.Helper()
	for _, w := range inspect(t, path).Waiters {
		mustWork(t, backendtest.BreakID(t.Context(), openLock(t, path), w.Record.ID))
	}
}

// TestForeignInSharedDirectory: nobody can tell whose a foreign name among the members is, so it
// counts as somebody.
func TestForeignInSharedDirectory(t *testing.T) {
	for _, put := range []func(string) error{
		func(p string) error { return os.WriteFile(p, nil, 0o644) },
		func(p string) error { return os.Mkdir(p, 0o755) },
	} {
		path := filepath.Join(t.TempDir(), "lock")
		h := mustHold(t, attemptAt(t, path, "shared"))
		foreign := filepath.Join(glob(t, path, "R/s.*"), "\x1b]0;boo\a")
		mustWork(t, put(foreign))
		other := mustHold(t, attemptAt(t, path, "shared"))
		mustRelease(t, other)
		mustRelease(t, h)
		err := try(t, path, "exclusive")
		mustFail(t, err, protocol.CannotCreate, "no member of ours")
		mustBePrintable(t, err.Error())
		r := inspect(t, path)
		if len(r.Holders) != 1 {
			t.Errorf("Read sees %+v, want one holder", r)
		}
		for _, h := range r.Holders {
			mustBePrintable(t, h.String())
		}
		mustWork(t, os.Remove(foreign), try(t, path, "exclusive"))
	}
}

func glob(t *testing.T, path, pattern string) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(path, pattern))
	if err != nil || len(all) != 1 {
		t.Fatalf("the files %s are %q, %v; want one", pattern, all, err)
	}
	return all[0]
}

// TestForeignInReservation: with something foreign in it, a reservation cannot be removed. So the
// lock stays held, and whoever looks is told.
func TestForeignInReservation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	h := mustHold(t, attemptAt(t, path, "exclusive"))
	foreign := filepath.Join(glob(t, path, "R/x.*"), "notes")
	mustWork(t, os.WriteFile(foreign, nil, 0o644))
	err := h.Release(t.Context())
	if err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("the release of a reservation with something foreign in it: %v, want that it is not empty", err)
	}
	mustBeHeld(t, attemptAt(t, path, "exclusive"))
	mustWork(t, os.Remove(foreign))
	mustRelease(t, h)
}

// TestHostileGenerations: a strange thing in the place of the newest generation is an error, and
// nobody guesses what it means.
func TestHostileGenerations(t *testing.T) {
	somebody := "x.1-1-60000-" + owner.NewID()
	for name, put := range map[string]func(g string) error{
		"file":         func(g string) error { return os.WriteFile(g+"/lock.7", nil, 0o644) },
		"directory":    func(g string) error { return os.Mkdir(g+"/lock.7", 0o755) },
		"points away":  func(g string) error { return os.Symlink("/etc", g+"/lock.7") },
		"climbs":       func(g string) error { return os.Symlink("../R/../../"+somebody, g+"/lock.7") },
		"escapes":      func(g string) error { return os.Symlink("\x1b[2J\x1b]0;boo\a", g+"/lock.7") },
		"to staging":   func(g string) error { return os.Symlink("../R/t"+somebody[1:], g+"/lock.7") },
		"huge":         func(g string) error { return os.Symlink("../R/"+somebody, g+"/lock.18446744073709551615") },
		"just too big": func(g string) error { return os.Symlink("../R/"+somebody, fmt.Sprint(g, "/lock.", uint64(1)<<60)) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lock")
			mustWork(t, try(t, path, "exclusive"), put(path+"/G"))
			mustStay(t, path, func() {
				for _, mode := range modes() {
					err := try(t, path, mode)
					mustFail(t, err, protocol.CannotCreate, "make sure that nobody does")
					mustBePrintable(t, err.Error())
				}
				_, err := openLock(t, path).Read(t.Context())
				mustFail(t, err, protocol.CannotCreate, "make sure that nobody does")
			})
		})
	}
}

// TestHostileDirectories: R or G is a link that leads elsewhere, or is no directory.
func TestHostileDirectories(t *testing.T) {
	for _, name := range []string{"R", "G"} {
		for what, put := range map[string]func(path, target string) error{
			"symlink":  func(path, target string) error { return os.Symlink(target, path) },
			"dangling": func(path, _ string) error { return os.Symlink("nowhere", path) },
			"file":     func(path, _ string) error { return os.WriteFile(path, nil, 0o644) },
		} {
			t.Run(name+" "+what, func(t *testing.T) {
				path, target := filepath.Join(t.TempDir(), "lock"), t.TempDir()
				mustWork(t, try(t, path, "exclusive"), os.RemoveAll(filepath.Join(path, name)), put(filepath.Join(path, name), target))
				for _, mode := range modes() {
					mustFail(t, try(t, path, mode), protocol.CannotCreate, map[string]string{"R": "R in it is not a directory", "G": "correct the path"}[name])
				}
				if left, err := os.ReadDir(target); err != nil || len(left) > 0 {
					t.Errorf("something was made where the link leads: %v, %v", left, err)
				}
			})
		}
	}
}

// records are what may stand in the place of a holder's record. None of them
// makes the holder look dead, or like one of this host.
func records(t *testing.T, r owner.Record) map[string]string {
	t.Helper()
	format := func(change func(*owner.Record)) string {
		forged := r
		change(&forged)
		text, err := forged.Format()
		mustWork(t, err)
		return strings.TrimSuffix(text, "\n")
	}
	dead := func(r *owner.Record) { r.Helper.Start++; r.ID = owner.NewID() }
	return map[string]string{
		"garbage":            "garbage",
		"escapes":            "\x1b[2J\x1b]0;boo\a",
		"not UTF-8":          "\xff\xfe",
		"a path":             "/etc/passwd",
		"two lines":          format(dead) + "\n" + format(dead),
		"longest":            strings.Repeat("z", 4095),
		"another id's, dead": format(dead),
		"escapes inside":     format(func(r *owner.Record) { r.User, r.Place.Host = "\x1b[2J", "\x9b31m\u202e" }),
	}
}

func TestHostileRecords(t *testing.T) {
	for name := range records(t, requestFor("exclusive").Owner) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lock")
			h := mustHold(t, attemptAt(t, path, "exclusive"))
			r := inspect(t, path).Holders[0].Record
			record := glob(t, path, "R/i.*")
			mustWork(t, os.Remove(record), os.Symlink(records(t, *r)[name], record))
			a := attemptAt(t, path, "exclusive")
			held := mustBeHeld(t, a)
			if held.Verdict == owner.Dead || held.Record != nil && held.Record.ID != h.ID() {
				t.Errorf("with a hostile record the holder is %+v, which is dead or somebody else", held)
			}
			mustBePrintable(t, held.String())
			for _, seen := range inspect(t, path).Holders {
				mustBePrintable(t, seen.String())
			}
			mustStillHold(t, h)
			mustWork(t, a.Withdraw(t.Context()))
			mustRelease(t, h)
			mustBeTidy(t, path)
		})
	}
}

// TestRecordThatIsNoLink: somebody put a file or a directory in the place of a record.
func TestRecordThatIsNoLink(t *testing.T) {
	for _, put := range []func(string) error{
		func(p string) error { return os.WriteFile(p, []byte("x"), 0o644) },
		func(p string) error { return os.Mkdir(p, 0o755) },
	} {
		path := filepath.Join(t.TempDir(), "lock")
		h := mustHold(t, attemptAt(t, path, "exclusive"))
		record := glob(t, path, "R/i.*")
		mustWork(t, os.Remove(record), put(record))
		a := attemptAt(t, path, "exclusive")
		if held := mustBeHeld(t, a); held.Record != nil || held.Verdict != owner.Unknown || held.Note == "" {
			t.Errorf("a holder whose record is no link is %+v, want unknown, with a note", held)
		}
		mustWork(t, a.Withdraw(t.Context()))
		mustRelease(t, h)
		mustWork(t, try(t, path, "exclusive"))
	}
}
