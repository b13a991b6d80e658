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
// killed while writing it.

const (
	successSuffix = ".done"
	wordSuccess   = "SUCCESS"
)

var _ backend.SuccessKeeper = (*Lock)(nil)

// LastSuccess implements backend.SuccessKeeper.
func (l *Lock) LastSuccess(_ context.Context, held backend.Hold) (*backend.Success, error) {
	now, err := held.(*hold).now()
	if err != nil {
		return nil, err
	}
	return l.lastSuccess(now), nil
}

// now makes a heartbeat and returns its time, by the clock of the file system.
func (h *hold) now() (time.Time, error) {
	if err := h.Heartbeat(context.Background()); err != nil {
		return time.Time{}, err
	}
	st, err := h.file.Stat()
	return st.Modified, h.explain("look at lock file", err)
}

func (l *Lock) lastSuccess(now time.Time) *backend.Success {
	st, text, err := l.successFile()
	if err != nil || !st.Own && l.isSticky() || st.Links > 1 {
		return nil
	}
	line, err := protocol.Parse(text)
	if err != nil || line.Word != wordSuccess || line.Value("v") != "1" {
		return nil
	}
	return &backend.Success{Ago: now.Sub(st.Modified), Host: line.Value("host")}
}

// successFile looks at the file in the place of a success.
func (l *Lock) successFile() (st lockfile.Stat, text string, err error) {
	f, err := open(l.path + successSuffix)
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
	h := held.(*hold)
	if err := h.Heartbeat(ctx); err != nil {
		return err
	}
	text, err := protocol.Line{Word: wordSuccess}.With("v", "1").With("host", owner.Here().Host).Format()
	if err == nil {
		err = l.replaceSuccess(text)
	}
	if err != nil {
		return l.fail("record the success", err)
	}
	return nil
}

// replaceSuccess makes the file anew. Only the holder of the lock does that. A file that has
// nothing to do with us stays, and is an error.
func (l *Lock) replaceSuccess(text string) error {
	st, old, err := l.successFile()
	switch begun := wordSuccess + " "; {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !strings.HasPrefix(old, begun) && !(st.Marked && strings.HasPrefix(begun, old)):
		return fmt.Errorf("%s%s is there and is none of ours: move it away", l.path, successSuffix)
	default:
		if err := os.Remove(systemPath(l.path) + successSuffix); err != nil {
			return err
		}
	}
	f, err := lockfile.Create(l.path + successSuffix)
	if err != nil {
		return err
	}
	return errors.Join(f.Write(text), f.Close())
}
