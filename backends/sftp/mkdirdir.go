//go:build unix

package sftp

import (
	"context"
	"errors"
	"path"
	"syscall"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/mkdirlock"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/process"
	"locksmith/protocol"
)

// openDirectories returns a lock in one of the styles of mkdir:.
func openDirectories(s *server) (backend.Backend, error) {
	l, err := mkdirlock.New(s.address, nil)
	if err != nil {
		return nil, err
	}
	l.NewDir = func() dirs.Dir { return &mkdirDir{s.newSession(path.Dir(s.address.OnServer()))} }
	l.Name = path.Base(s.address.Path)
	l.Pace = mkdirlock.Pace{Min: 100 * time.Millisecond, Max: 10 * time.Second}
	return l.Backend(), nil
}

// A mkdirDir is the directory of a lock of directories. It implements dirs.StatDir.
type mkdirDir struct{ *session }

var _ dirs.StatDir = (*mkdirDir)(nil)

// outcome sorts a call's error into those that dirs.Dir knows.
func outcome(err error) error {
	var refused *refusal
	if errors.As(err, &refused) && refused.errno != syscall.EACCES {
		return &refusedError{refused}
	}
	return dirs.Outcome(err)
}

// A refusedError is dirs.ErrRefused, too.
type refusedError struct{ *refusal }

func (e *refusedError) Unwrap() []error { return []error{dirs.ErrRefused, e.refusal} }

// fit refuses a server that cannot rename as these locks need it, before anything is made. The
// protocol's own rename is not enough: servers look first and rename then.
func (t *mkdirDir) fit(ctx context.Context) error {
	c, err := t.connected(ctx)
	if err == nil && !c.knows(posixRename) {
		err = t.server.address.Name().Failure(protocol.CannotCreate, "rename a directory",
			errors.New("the server does not know "+posixRename), "leave out ?style=, or use another server")
	}
	return err
}

// Mkdir implements dirs.Dir.
func (t *mkdirDir) Mkdir(ctx context.Context, name string) error {
	if err := t.fit(ctx); err != nil {
		return err
	}
	return outcome(t.mkdir(ctx, name))
}

// Rmdir implements dirs.Dir.
func (t *mkdirDir) Rmdir(ctx context.Context, name string) error { return outcome(t.rmdir(ctx, name)) }

// Rename implements dirs.Dir.
func (t *mkdirDir) Rename(ctx context.Context, from, to string) error {
	if err := t.fit(ctx); err != nil {
		return err
	}
	return outcome(t.rename(ctx, from, to))
}

// List implements dirs.Dir.
func (t *mkdirDir) List(ctx context.Context, name string) ([]string, error) {
	all, err := t.list(ctx, name)
	names := make([]string, len(all))
	for i, item := range all {
		names[i] = item.name
	}
	return names, outcome(err)
}

// Entries implements dirs.StatDir.
func (t *mkdirDir) Entries(ctx context.Context, name string) ([]dirs.Entry, error) {
	all, err := t.list(ctx, name)
	entries := make([]dirs.Entry, len(all))
	for i, item := range all {
		entries[i] = dirs.Entry{Name: item.name, Dir: item.attrs.is(modeDir), Precise: true, User: item.attrs.user}
		if item.attrs.flags&hasTimes != 0 {
			entries[i].Modified = time.Unix(int64(item.attrs.modified), 0)
		}
	}
	return entries, outcome(err)
}

// Await implements dirs.Dir. A server tells nothing by itself.
func (t *mkdirDir) Await(ctx context.Context, _ string, _ process.Process, d time.Duration) {
	clock.Sleep(ctx, clock.Boot{}, d)
}

// Close implements dirs.Dir.
func (t *mkdirDir) Close() { t.close() }
