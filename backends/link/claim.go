//go:build unix

package link

import (
	"errors"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
)

// A claim is a unique file of ours that is to become the lock. Its name carries the id of one
// acquisition, and is never used again.
type claim struct {
	lock   *Lock
	fs     FS
	record owner.Record
	name   string
	text   string
	stat   lockfile.Stat // as it was made
	now    time.Time     // by the server's clock, when it was made
	linked bool          // a call was made to give it another name
}

// newClaim names a claim; it is not made yet.
func (l *Lock) newClaim(fs FS, r owner.Record) (*claim, error) {
	//rule:id
	r, text, err := backend.Signed(l.Address, l.Env, r, lockfile.Format)
	if err != nil {
		return nil, err
	}
	return &claim{lock: l, fs: fs, record: r, name: l.claimName(r.ID), text: text}, nil
}

// make makes the file. backend.ErrAgain means that the file is spoiled, and a new claim may do.
func (c *claim) make() error {
	const op = "make our own file"
	err := c.fs.Create(c.name, c.text)
	if err == nil {
		c.stat, err = c.fs.Stat(c.name)
		if absent(err) {
			return backend.Again(c.lock.fail(op, errors.New("somebody removed it at once")))
		}
	}
	c.now = c.stat.Modified
	if err == nil && c.lock.Ahead {
		err = c.setAhead()
	}
	switch {
	case err == nil:
		return nil
	case backend.Unclear(err), !absent(err) && !definite(err):
		return backend.Again(c.lock.fail(op, err))
	}
	return c.lock.fail(op, err)
}

// setAhead sets the claim's time before it is the lock. At no moment may others take it for one
// that has ended.
func (c *claim) setAhead() error {
	f, err := c.fs.Open(c.name)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.SetTime(c.now.Add(c.record.Lease))
}

// linkTo gives the claim another name, and reports whether it has that name. What the call says
// is no proof: a server that crashed says EEXIST of what was our own work, and an answer may be
// lost. The name is ours if it leads to the very file of the claim. backend.ErrAgain means that
// another claim may have more luck.
func (c *claim) linkTo(name string) (bool, error) {
	c.linked = true
	cause := c.fs.Link(c.name, name)
	//rule:look
	there, err := c.fs.Stat(name)
	switch {
	case absent(err) && definite(cause):
		return false, c.lock.linkError(cause)
	case absent(err) && cause != nil:
		return false, backend.Again(c.lock.fail(linkOp, cause))
	case absent(err):
		return false, backend.ErrAgain // the name was ours, and somebody took it away
	case err != nil:
		return false, c.lock.fail(linkOp, errors.Join(cause, err))
	//rule:same
	case there.Same(c.stat):
		return c.proven(name)
	case cause == nil:
		return false, c.mistrust(name)
	case definite(cause):
		return false, c.lock.linkError(cause)
	}
	return false, nil
}

// proven asks for the second proof: that two names lead to the file. If somebody removed the
// claim's own name, its record must do, because the number may be used again by now.
func (c *claim) proven(name string) (bool, error) {
	own, err := c.fs.Stat(c.name)
	switch {
	case absent(err):
		_, text, err := c.fs.Read(name)
		if err != nil && !absent(err) {
			return false, c.lock.fail("look at the lock file", err)
		}
		return err == nil && parse(text).Holds(c.record.ID), nil
	case err != nil:
		return false, c.lock.fail("look at our own file", err)
	case !own.Same(c.stat):
		return false, c.expose(name, "a file has another number than before")
	case own.Links < 2:
		// More than 2: somebody has linked it elsewhere.
		return false, c.recount(name)
	}
	return true, nil
}

// recount is for a file with two names that counts one link. It may have lost one of them since
// we looked.
func (c *claim) recount(name string) error {
	there, err := c.fs.Stat(name)
	switch {
	case absent(err), err == nil && !there.Same(c.stat):
		return backend.ErrAgain
	case err != nil:
		return c.lock.fail("look at the lock file", err)
	}
	return c.expose(name, "a file with two names counts one link")
}

// mistrust is for a name that leads to another file, though we were told that it is ours. Either
// somebody has put another file there meanwhile, or file numbers mean nothing here.
func (c *claim) mistrust(name string) error {
	_, text, err := c.fs.Read(name)
	if err != nil || !parse(text).Holds(c.record.ID) {
		return backend.ErrAgain
	}
	return c.expose(name, "a file has another number under its second name")
}

// expose says why a name that is ours cannot be a lock. It removes the name if the record there
// is ours: where file numbers lie, the file may be anybody's.
func (c *claim) expose(name, how string) error {
	if _, text, err := c.fs.Read(name); err == nil && parse(text).Holds(c.record.ID) {
		_ = c.fs.Unlink(name)
	}
	return c.lock.lies(how)
}

// remove removes the claim's own name. Then an earlier request that is executed late can no
// longer link the file to another name.
func (c *claim) remove() error {
	if err := c.fs.Unlink(c.name); err != nil && !absent(err) {
		return c.lock.fail("remove our own file", err)
	}
	return nil
}
