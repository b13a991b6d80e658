package local

import (
	"errors"
	"time"

	"locksmith/protocol"
)

// A file is an open lock file. The descriptor is never inherited: a child that
// had it would keep the kernel lock alive.
type file struct {
	fd   descriptor
	path string
	// kept says that the file stays when the lock is free, empty then (?empty=free):
	// who waits for its kernel lock with flock(1) would get that of a file which is no
	// longer there, beside the next holder.
	kept bool
}

// A status is what the system tells of a file.
type status struct {
	volume, index uint64 // together they name it
	links         uint64
	size          int64
	modified      time.Time
	marked        bool // see create
	deleted       bool // on Windows: it goes when the last one closes it
}

func (s status) isSame(other status) bool { return s.volume == other.volume && s.index == other.index }

var errNotOurs = errors.New("the path names another file")

type notRegularError string

func (e notRegularError) Error() string { return "it is " + string(e) }

// named returns nil if the path names this very file, errNotOurs if it names
// another or none.
func (f *file) named() error {
	mine, err := f.stat()
	if err != nil {
		return err
	}
	if mine.deleted {
		return errNotOurs
	}
	there, err := statPath(f.path)
	if err == nil && !there.isSame(mine) {
		err = errNotOurs
	}
	return err
}

// remove unlinks the path if it names this file, or empties the file that is kept, and
// lets the kernel lock go only then. The caller has the kernel lock. After errNotOurs,
// too, the file is closed; after any other error it is still open and locked.
func (f *file) remove() error {
	err := f.named()
	switch {
	case err != nil:
	case f.kept:
		err = f.empty()
	default:
		err = f.unlink()
	}
	if err == nil || errors.Is(err, errNotOurs) {
		f.close()
	}
	return err
}

// read returns what the file holds, at most a byte more than a record may.
func (f *file) read() (content, error) {
	st, err := f.stat()
	if err != nil {
		return content{}, err
	}
	text, err := f.text(maxContent + 1)
	if err != nil {
		return content{}, err
	}
	c := content{stat: st}
	c.parse(text)
	return c, nil
}

const maxContent = protocol.MaxLine + len("18446744073709551615\n")
