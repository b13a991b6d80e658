package local

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/process"
)

// A content is what a lock file says.
type content struct {
	record *owner.Record // nil: not, or not yet, a file of ours
	pid    int           // of a file that holds nothing but a pid; else 0
	note   string        // why there is no record
	text   string
	stat   status // when it was read
}

// modified is the last heartbeat, by this machine's wall clock; for people.
func (c content) modified() time.Time { return c.stat.modified }

// sign changes with the file and with each heartbeat.
func (c content) sign() string {
	return fmt.Sprint(c.stat.volume, c.stat.index, c.stat.size, c.stat.modified.UnixNano())
}

// marked reports that the file was created by one of us.
func (c content) marked() bool { return c.stat.marked }

func format(r owner.Record) (string, error) {
	line, err := r.Format()
	if err != nil {
		return "", err
	}
	return strconv.Itoa(r.Helper.PID) + "\n" + line, nil
}

func (c *content) parse(s string) {
	c.text = s
	first, rest, _ := strings.Cut(s, "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	isPID := err == nil && pid > 0 && pid <= process.MaxPID
	switch {
	case len(s) > maxContent:
		c.note = "the lock file is too long for one of ours"
	case s == "":
		c.note = "the lock file is empty: flock(1) or another tool may have left it"
	case isPID && strings.TrimSpace(rest) == "":
		c.pid, c.note = pid, "made by another tool"
	default:
		r, err := owner.ParseRecord(rest)
		if err != nil || r.Helper.PID != pid {
			c.note = "the lock file holds no record that parses"
			return
		}
		c.record = &r
	}
}

// unfinished reports that the maker was one of us and has not yet written, or
// will never write, its whole record.
func (c content) unfinished() bool { return c.record == nil && c.marked() }

// verdict judges the holder by its record, or by the pid of another tool.
func (c content) verdict(here owner.Place) owner.Verdict {
	switch {
	case c.record != nil && here.RebootedSince(c.record.Place):
		return owner.Dead
	case c.record != nil:
		return c.record.Verdict(here)
	case c.pid == 0 || c.marked():
		return owner.Unknown
	case process.Process{PID: c.pid}.Gone():
		return owner.Dead
	}
	return owner.Alive
}

// A keeper is the process whose end may change the verdict.
type keeper struct {
	process.Process
	visible  bool
	isHelper bool
}

func (c content) keeper(here owner.Place) keeper {
	if r := c.record; r != nil {
		p, ok := r.Lives(here)
		return keeper{p, ok, ok && p == r.Helper}
	}
	p := process.Process{PID: c.pid}
	return keeper{p, c.pid != 0 && !p.Gone(), false}
}

func (c content) holder(verdict owner.Verdict, now time.Time) backend.Holder {
	h := backend.Holder{Record: c.record, Note: c.note, Verdict: verdict, PID: c.pid}
	if c.stat.index == 0 {
		return h // never read, so of no known age
	}
	h.Age, h.Sign = max(now.Sub(c.modified()), 0), c.sign()
	if r := c.record; r != nil {
		h.ID, h.PID, h.Lease = r.ID, r.Helper.PID, r.Lease
		h.Age = max(now.Sub(r.Acquired), 0)
		h.Heartbeat = max(now.Sub(c.modified()), 0)
	} else if c.unfinished() {
		h.Note = "its maker is just starting, or died while it did"
	}
	return h
}
