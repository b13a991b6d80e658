//go:build unix

package sftp

import (
	"context"
	"errors"

	"locksmith/backends/backend"
	"locksmith/backends/nfs/generation"
	"locksmith/protocol"
)

// Examine implements backend.Backend.
func (l *lock) Examine(ctx context.Context, _ backend.Examination, tell backend.Tell) error {
	u := l.use()
	defer u.close()
	defer context.AfterFunc(ctx, u.dir.close)()
	ready, err := u.dir.check(ctx)
	if err == nil {
		err = u.dir.probe(ctx, ready)
	}
	var e *backend.Error
	switch {
	case err == nil:
	case errors.As(err, &e) && (e.Code == protocol.CannotCreate || e.Code == protocol.Permission):
		tell.Unfit("lock directory", e.Op+": "+e.Err.Error(), e.Hint)
		return nil
	default:
		return err
	}
	base := "."
	if !ready {
		base = ".."
	}
	dir := newDirectory(u.dir.below(base), false)
	return generation.Examine(ctx, dir, dir.shown("."), tell, dir.failed)
}
