//go:build unix

package link

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/protocol"
	"locksmith/test/faulty"
)

// examined returns what doctor tells, by the checks' names.
func examined(t *testing.T, l *Lock) (map[string]backend.Check, error) {
	t.Helper()
	all := map[string]backend.Check{}
	err := l.Examine(t.Context(), backend.Examination{}, func(c backend.Check) {
		all[c.Name] = c
		if c.Finding != backend.Fit && c.Advice == "" {
			t.Errorf("a finding that is not fit has no advice: %+v", c)
		}
	})
	return all, err
}

func TestExamineDisk(t *testing.T) {
	for _, options := range []map[string]string{nil, {"touch": "ahead"}} {
		dir := t.TempDir()
		all, err := examined(t, openWith(t, filepath.Join(dir, "lock"), options).(*Lock))
		mustWork(t, err)
		for _, name := range []string{"exclusive create", "hard links", "file numbers", "link count", "remove files", "open by a second name", "open files", "heartbeat", "listing", "two link the same"} {
			if all[name].Finding != backend.Fit {
				t.Errorf("doctor on a good disk finds of %s: %+v", name, all[name])
			}
		}
		if _, asked := all["time ahead"]; asked != (options != nil) {
			t.Errorf("with the options %v the check of times ahead, which only touch=ahead needs, says %+v", options, all["time ahead"])
		}
		mustBeEmpty(t, dir)
	}
}

func TestExamineFindsLies(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*server)
	}{
		{"link count", func(s *server) { s.oneLink = true }},
		{"file numbers", func(s *server) { s.nameNumbers = true }},
		{"hard links", func(s *server) { s.noLinks = unix.EPERM }},
		{"open by a second name", func(s *server) {
			opened := false
			s.fault = func(c faulty.Call) error {
				if first := !opened; c.Op == "open" && first {
					opened = true
					return unix.EINVAL
				}
				return c.Do()
			}
		}},
		{"heartbeat", func(s *server) { s.ticks = 0 }},
		{"two link the same", func(s *server) {
			s.fault = func(c faulty.Call) error {
				if c.Op == "link" && len(s.calls) > 30 {
					delete(s.names, c.Name) // as if the call replaced what is there
				}
				return c.Do()
			}
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			s.ticks = time.Millisecond
			c.set(s)
			all, err := examined(t, lockOn(s))
			mustWork(t, err)
			if all[c.name].Finding != backend.Unfit {
				t.Errorf("doctor does not find what is wrong with %s: %+v", c.name, all[c.name])
			}
			if c.name == "heartbeat" && !strings.Contains(all[c.name].Text, "again and again for 5.1s,") {
				t.Errorf("doctor watched the time of a file for 5.1s, and says: %s", all[c.name].Text)
			}
			mustBeClean(t, s)
		})
	}
}

func TestExamineUnreachable(t *testing.T) {
	s := newServer()
	s.fault = func(c faulty.Call) error { return unix.EIO }
	_, err := examined(t, lockOn(s))
	mustFail(t, err, protocol.Unreachable, "look at the server")
	if !errors.Is(err, unix.EIO) {
		t.Errorf("doctor at a place that does not answer returns %v, want EIO", err)
	}
}

func TestExaminePlace(t *testing.T) {
	dir := publicDir(t, 0o777)
	all, err := examined(t, openLock(t, filepath.Join(dir, "lock")))
	mustWork(t, err)
	if len(all) != 1 || all["place"].Finding != backend.Unfit {
		t.Errorf("doctor of a world-writable directory without the sticky bit finds %+v, want unfit, and no more", all)
	}
	all, err = examined(t, openLock(t, filepath.Join(dir, "missing", "lock")))
	mustWork(t, err)
	if all["place"].Finding != backend.Unfit {
		t.Errorf("doctor of a missing directory finds %+v, want unfit", all)
	}
	mustWork(t, os.Chmod(dir, 0o777|os.ModeSticky))
	all, err = examined(t, openLock(t, filepath.Join(dir, "lock")))
	mustWork(t, err)
	if all["directory"].Finding != backend.Weak {
		t.Errorf("doctor of a sticky directory finds %+v, want weak", all["directory"])
	}
}
