//go:build unix

package backendtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/process"
)

// A witness knows who is inside a lock, from two sources: a lock of the kernel's, which
// dies with its process, and a log of those who came and went. Only the log tells of an
// intruder that is dead by now.
type witness struct{ dir string }

// What the lines of the log begin with. The mode, the process and the token follow.
const (
	enters = "enter "
	leaves = "leave "
)

func (w witness) log() string { return filepath.Join(w.dir, "log") }

// stay enters, stays for a while, and leaves. The lines in the log are single appends, so
// that they come in the order of events.
func (w witness) stay(mode string, token uint64, d time.Duration) error {
	self, err := process.Find(os.Getpid())
	if err != nil {
		return err
	}
	log, err := os.OpenFile(w.log(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	room, err := w.occupy(mode)
	if err != nil {
		return err
	}
	defer room.Close()
	us := visit{mode, self, token}
	if _, err := fmt.Fprintln(log, enters+us.String()); err != nil {
		return err
	}
	if err := w.check(us); err != nil {
		return err
	}
	time.Sleep(d)
	if err := w.check(us); err != nil {
		return err
	}
	_, err = fmt.Fprintln(log, leaves+us.String())
	return err
}

// occupy locks a file in the kernel until it is closed.
func (w witness) occupy(mode string) (*os.File, error) {
	room, err := os.OpenFile(filepath.Join(w.dir, "room"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	how := unix.LOCK_EX
	if mode == "shared" {
		how = unix.LOCK_SH
	}
	if err := unix.Flock(int(room.Fd()), how|unix.LOCK_NB); err != nil {
		room.Close()
		return nil, fmt.Errorf("not alone, %s: %w", mode, err)
	}
	return room, nil
}

// check looks for those who must not be inside with us: the living who came before us and
// have not left, and if we are exclusive, whoever came after us.
func (w witness) check(us visit) error {
	raw, err := os.ReadFile(w.log())
	if err != nil {
		return err
	}
	before, after, _ := cutLast(string(raw), enters+us.String()+"\n")
	if after != "" && us.mode == "exclusive" {
		return fmt.Errorf("not alone: after %q came %q", us, after)
	}
	inside := map[string]bool{}
	for line := range strings.Lines(before + after) {
		if who, did := strings.CutPrefix(line, enters); did {
			inside[who] = true
		} else {
			delete(inside, strings.TrimPrefix(line, leaves))
		}
	}
	for who := range inside {
		them, err := parseVisit(who)
		if err != nil {
			return err
		}
		if !us.with(them) && !them.process.Gone() {
			return fmt.Errorf("%q has not left and is alive, and here is %q", them, us)
		}
	}
	return nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// A visit is one time that somebody is inside.
type visit struct {
	mode    string
	process process.Process
	token   uint64
}

func (v visit) String() string {
	return fmt.Sprintf("%s %d %d %d", v.mode, v.process.PID, v.process.Start, v.token)
}

func parseVisit(s string) (v visit, err error) {
	if _, err = fmt.Sscanf(s, "%s %d %d %d", &v.mode, &v.process.PID, &v.process.Start, &v.token); err != nil {
		err = fmt.Errorf("%q: %w", s, err)
	}
	return v, err
}

// with reports whether both may be inside at once: only those who share may, and then they
// have one token.
func (v visit) with(other visit) bool {
	return v.mode == "shared" && other.mode == "shared" && v.token == other.token
}
