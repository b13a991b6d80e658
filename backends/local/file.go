package local

import (
	"fmt"
	"strings"
	"unicode"

	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/backends/watch"
)

// open opens the file at path for reading, if it is a regular file.
func open(path string) (*lockfile.File, error) { return regular(lockfile.Open(path)) }

func regular(f *lockfile.File, err error) (*lockfile.File, error) {
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && st.Kind != "" {
		err = notRegularError(st.Kind)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// A notRegularError says what is there instead of a regular file.
type notRegularError string

func (e notRegularError) Error() string { return "it is " + string(e) }

// A content is what a lock file says, and what the system says about the file.
type content struct {
	lockfile.Content
	note string        // why there is no record
	stat lockfile.Stat // as it was when the text was read
}

// read returns what the file holds.
func (l *Lock) read(f File) (content, error) {
	st, err := f.Stat()
	if err != nil {
		return content{}, err
	}
	text, err := f.Text()
	if err != nil {
		return content{}, err
	}
	c := parse(text, l.binary)
	c.stat = st
	if c.Record != nil {
		c.Record.Keeper = st.User
	}
	return c, nil
}

// parse parses the text of a lock file. With inBinary the address says that pids are so.
func parse(text string, inBinary bool) content {
	if len(text) > lockfile.MaxText {
		return content{Content: lockfile.Content{Text: text}, note: "the lock file is too long for one of ours"}
	}
	c := content{Content: lockfile.Parse(text, unicode.IsSpace, inBinary)}
	switch {
	case text == "":
		c.note = "the lock file is empty: flock(1) or another tool may have left it"
	case c.PID != 0:
		c.note = "made by another tool"
	case c.ofKernel():
		c.note = "it is the file of a flock: lock, which stays when that is free"
	case c.Record == nil:
		c.note = "the lock file holds no record that parses"
	}
	return c
}

// ofKernel reports whether the file is that of a lock of another kind, which the kernel alone keeps.
func (c content) ofKernel() bool {
	r, err := owner.ParseRecord(c.Text)
	return err == nil && r.Kind != ""
}

// sign is a text that changes with the file, and with each heartbeat.
func (c content) sign() string {
	s := fmt.Sprint(c.stat.Dev, c.stat.Ino, c.stat.Size, c.stat.Modified.UnixNano())
	if c.Record != nil {
		s += c.Record.ID
	}
	return s
}

// unfinished reports whether a helper made the file, but has not written its whole record yet, or
// never will.
func (c content) unfinished() bool { return c.Record == nil && c.stat.Marked && !c.isWhole() }

// strange reports whether a helper made the file and wrote all of it, but we cannot read its record.
// It may be a record of a later version.
func (c content) strange() bool { return c.Record == nil && c.stat.Marked && c.isWhole() }

// isWhole reports whether the text has all that a helper writes: the line of the pid, and that of the
// record. A later version may write more than we read. A byte of a binary pid may be a line feed.
func (c content) isWhole() bool {
	return len(c.Text) > lockfile.MaxText || strings.Count(c.Rest(), "\n") > 1
}

// verdict judges the holder as seen from here.
func (c content) verdict(here owner.Place) owner.Verdict {
	return c.judged(func(r owner.Record) owner.Verdict { return r.VerdictOnDisk(here) })
}

// judged judges the holder by its record, or by the pid of another tool.
func (c content) judged(judge func(owner.Record) owner.Verdict) owner.Verdict {
	if c.stat.Marked {
		c.PID = 0 // a helper of ours has not written its record yet
	}
	return c.Verdict(judge)
}

// A watchedProcess is the process whose end may change the verdict.
type watchedProcess struct {
	process.Process
	visible  bool
	isHelper bool
}

func (a *attempt) toWatch(c content) watchedProcess {
	if r := c.Record; r != nil {
		p, ok := a.env.ToWatch(*r)
		return watchedProcess{p, ok, ok && p == r.Helper}
	}
	p, lives := c.Process()
	return watchedProcess{p, lives, false}
}

// seen is what the file tells about its holder.
func (c content) seen(verdict owner.Verdict) watch.Seen {
	s := watch.Seen{Record: c.Record, Note: c.note, Verdict: verdict, PID: c.PID}
	if c.stat.Ino == 0 {
		return s // never read, so its age is not known
	}
	s.Sign, s.Since = c.sign(), c.stat.Modified
	if r := c.Record; r != nil {
		s.ID, s.Lease, s.Since, s.Beat = r.ID, r.Lease, r.Acquired, c.stat.Modified
		s.Lasting = watch.IsFine(c.stat.Modified)
	} else if c.unfinished() {
		s.Note = "its maker is just starting, or died while it did"
	}
	return s
}
