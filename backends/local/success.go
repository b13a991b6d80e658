package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/backends/success"
	"locksmith/protocol"
)

// A success is kept in a file beside the lock file, with ".done" after its name. The file has one
// line:
//
//	SUCCESS v=1 host=web3
//
// The age of a success is the time of this file compared with that of the lock file after a
// heartbeat, so that both are of one clock. If something else is there, or if the file could be a
// stranger's, there is no success. RecordSuccess replaces the file only if it begins like a
// success, or if it is the beginning of one and has the mark of our lock files: we may have been
// killed while writing it. It writes the new success to a file with ".done.new" after its name,
// for which the same holds, and renames that.

const (
	successSuffix    = ".done"
	unfinishedSuffix = ".new" // after that, while a success is written
	wordSuccess      = "SUCCESS"
)

var _ backend.SuccessKeeper = (*Lock)(nil)

// LastSuccess implements backend.SuccessKeeper.
func (l *Lock) LastSuccess(ctx context.Context, held backend.Hold) (*backend.Success, error) {
	now, err := held.(*hold).now()
	if err != nil {
		return nil, err
	}
	return success.Last(ctx, successes{l}, now)
}

// now makes a heartbeat and returns its time, by the clock of the file system.
func (h *hold) now() (time.Time, error) {
	if err := h.Heartbeat(context.Background()); err != nil {
		return time.Time{}, err
	}
	st, err := h.file.Stat()
	return st.Modified, h.explain("look at lock file", err)
}

// lastSuccess is the last one, at this time by the clock of the file system.
func (l *Lock) lastSuccess(now time.Time) *backend.Success {
	s, _ := success.Last(context.Background(), successes{l}, now)
	return s
}

// successes are at most one: each takes the place of the one before.
type successes struct{ lock *Lock }

// List implements success.Store.
func (s successes) List(context.Context) ([]success.Mark, error) {
	path := s.lock.path + successSuffix
	st, text, err := readFile(path)
	if err != nil || !st.Own && s.lock.isSticky() || st.Links > 1 {
		return nil, nil
	}
	line, err := protocol.Parse(text)
	if err != nil || line.Word != wordSuccess || line.Value("v") != "1" {
		return nil, nil
	}
	return []success.Mark{{Name: path, Number: 1, At: st.Modified, Host: line.Value("host")}}, nil
}

// Read implements success.Store.
func (successes) Read(context.Context, *success.Mark) error { return nil }

// Write implements success.Store.
func (s successes) Write(_ context.Context, n uint64) (success.Mark, error) {
	m := success.Mark{Name: s.lock.path + successSuffix, Number: n}
	text, err := protocol.Line{Word: wordSuccess}.With("v", "1").With("host", owner.Here().Host).Format()
	if err == nil {
		err = replaceSuccess(m.Name, text)
	}
	if err != nil {
		return m, s.lock.fail("record the success", err)
	}
	return m, nil
}

// Remove implements success.Store.
func (successes) Remove(context.Context, success.Mark) error { return nil }

// readFile reads the file in the place of a success.
func readFile(path string) (st lockfile.Stat, text string, err error) {
	f, err := open(path)
	if err != nil {
		return st, "", err
	}
	defer f.Close()
	if st, err = f.Stat(); err != nil {
		return st, "", err
	}
	text, err = f.Read(protocol.MaxLine + 1)
	return st, text, err
}

// isSticky reports whether everybody may make files in the lock's directory, but only a file's
// owner may remove it.
func (l *Lock) isSticky() bool {
	st, err := os.Stat(l.directory())
	return err != nil || st.Mode()&fs.ModeSticky != 0
}

// RecordSuccess implements backend.SuccessKeeper.
func (l *Lock) RecordSuccess(ctx context.Context, held backend.Hold) error {
	if err := held.Heartbeat(ctx); err != nil {
		return err
	}
	return success.Record(ctx, successes{l}, 1)
}

// replaceSuccess writes a file beside the one at path, and renames it: until then the earlier
// success is there. Only the holder of the lock does that. A holder that has lost the lock, and
// goes on late, finds that the file beside is not its own.
func replaceSuccess(path, text string) error {
	if err := mayReplace(path); err != nil {
		return err
	}
	beside := path + unfinishedSuffix
	if err := mayReplace(beside); err != nil {
		return err
	}
	if err := os.Remove(systemPath(beside)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := lockfile.Create(beside)
	if err != nil {
		return err
	}
	err = f.Write(text)
	if err == nil {
		err = f.Named()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err // who comes next removes what is left
	}
	return os.Rename(systemPath(beside), systemPath(path))
}

// mayReplace is an error if what is there has nothing to do with us. What we began to write has
// our mark.
func mayReplace(path string) error {
	st, old, err := readFile(path)
	switch begun := wordSuccess + " "; {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !strings.HasPrefix(old, begun) && !(st.Marked && strings.HasPrefix(begun, old)):
		return fmt.Errorf("%s is there and is none of ours: move it away", path)
	}
	return nil
}
