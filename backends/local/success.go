package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// A success is kept in a file beside the lock file, with ".done" after its name: a line
//
//	SUCCESS v=1 host=web3
//
// The time at which that file was written is compared with the lock file's own after a
// heartbeat, so that both are of one clock. What is there instead of such a file, or could
// be a stranger's, counts as no success at all.

const (
	successSuffix = ".done"
	wordSuccess   = "SUCCESS"
	successMode   = 0o644
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

// now is the time of a heartbeat of now, by the clock of the file system.
func (h *hold) now() (time.Time, error) {
	if err := h.Heartbeat(context.Background()); err != nil {
		return time.Time{}, err
	}
	st, err := h.file.Stat()
	return st.Modified, h.explain("look at lock file", err)
}

func (l *Lock) lastSuccess(now time.Time) *backend.Success {
	f, err := open(l.path + successSuffix)
	if err != nil {
		return nil
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Own && l.isSticky() || st.Links > 1 {
		return nil
	}
	text, err := f.Read(protocol.MaxLine + 1)
	if err != nil {
		return nil
	}
	line, err := protocol.Parse(text)
	if err != nil || line.Word != wordSuccess || line.Value("v") != "1" {
		return nil
	}
	return &backend.Success{Ago: now.Sub(st.Modified), Host: line.Value("host")}
}

// isSticky reports that everybody may make files in the lock's directory, and only their
// owner remove them.
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
		err = replace(systemPath(l.path)+successSuffix, text)
	}
	if err != nil {
		return l.fail("record the success", err)
	}
	return nil
}

// replace makes a file anew. Whoever has the lock is the only one who does.
func replace(path, text string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, successMode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
