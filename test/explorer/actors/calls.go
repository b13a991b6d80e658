//go:build unix

package actors

import (
	"context"
	"errors"
	"io"
	"path"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/link"
	"locksmith/backends/lockfile"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/test/explorer/steps"
)

// Calls is the directory that contains a lock of directories.
func (e Env) Calls() dirs.Dir { return calls{e.runner} }

type calls struct{ r *runner }

func (d calls) text(name string) steps.Text {
	if name = path.Clean(name); name == "." {
		name = ""
	}
	return d.r.text(name)
}

// Mkdir implements dirs.Dir.
func (d calls) Mkdir(_ context.Context, name string) error {
	return d.asked(steps.Op{Kind: steps.OpMkdir, Name: d.text(name)})
}

// Rmdir implements dirs.Dir.
func (d calls) Rmdir(_ context.Context, name string) error {
	return d.asked(steps.Op{Kind: steps.OpRmdir, Name: d.text(name)})
}

// Rename implements dirs.Dir.
func (d calls) Rename(_ context.Context, from, to string) error {
	return d.asked(steps.Op{Kind: steps.OpRename, Name: d.text(from), To: d.text(to)})
}

// Disk is Calls on a disk of one machine.
func (e Env) Disk() dirs.Dir { return disk{calls{e.runner}} }

type disk struct{ calls }

// RenameNew implements dirs.Disk.
func (d disk) RenameNew(_ context.Context, from, to string) error {
	err := d.asked(steps.Op{Kind: steps.OpRenameNew, Name: d.text(from), To: d.text(to)})
	if errors.Is(err, unix.EINVAL) {
		return errors.ErrUnsupported
	}
	return err
}

// Stake implements dirs.Disk.
func (d disk) Stake(_ context.Context, name string) (io.Closer, error) {
	return d.pin(steps.OpStake, name)
}

// Pin implements dirs.Disk.
func (d disk) Pin(_ context.Context, name string) (io.Closer, error) { return d.pin(steps.OpPin, name) }

func (d disk) pin(kind steps.OpKind, name string) (io.Closer, error) {
	r := d.r.ask(steps.Op{Kind: kind, Name: d.text(name)})
	if r.Err != 0 {
		return nil, dirs.Outcome(r.Err)
	}
	return pin{d.r, steps.Text(r.Value)}, nil
}

// A pin is the pin on a directory, by the name under which it was staked; 0: a pin that does not
// matter.
type pin struct {
	r    *runner
	born steps.Text
}

func (p pin) Close() error {
	if p.born != 0 {
		p.r.ask(steps.Op{Kind: steps.OpUnpin, Name: p.born})
	}
	return nil
}

// RemoveAbandoned implements dirs.Disk.
func (d disk) RemoveAbandoned(_ context.Context, name string) error {
	return d.asked(steps.Op{Kind: steps.OpRemoveAbandoned, Name: d.text(name)})
}

var _ dirs.Disk = disk{}

func (d calls) asked(o steps.Op) error {
	if e := d.r.ask(o).Err; e != 0 {
		return dirs.Outcome(e)
	}
	return nil
}

// List implements dirs.Dir.
func (d calls) List(ctx context.Context, name string) ([]string, error) {
	names, err := dir(d).List(ctx, string(d.r.names.Texts[d.text(name)]))
	if err != nil {
		return nil, dirs.Outcome(err)
	}
	return names, nil
}

// Await implements dirs.Dir.
func (d calls) Await(ctx context.Context, name string, watched process.Process, wait time.Duration) {
	dir(d).Await(ctx, name, watched, wait)
}

// Close implements dirs.Dir.
func (d calls) Close() {}

// Files is the directory that contains a lock file.
func (e Env) Files() link.FS { return files{e.runner} }

// Self is the record of this process.
func (e Env) Self() owner.Record { return e.runner.role.request(e.runner).Owner }

type files struct{ r *runner }

// Create implements link.FS.
func (d files) Create(name, content string) error {
	born := d.r.text(name)
	if e := d.r.ask(steps.Op{Kind: steps.OpCreate, Name: born}).Err; e != 0 {
		return e
	}
	return asError(d.r.ask(steps.Op{Kind: steps.OpWrite, Name: born, To: d.r.text(content)}).Err)
}

// Link implements link.FS.
func (d files) Link(from, to string) error {
	return asError(d.r.ask(steps.Op{Kind: steps.OpLink, Name: d.r.text(to), To: d.r.text(from)}).Err)
}

// Unlink implements link.FS.
func (d files) Unlink(name string) error {
	return asError(d.r.ask(steps.Op{Kind: steps.OpUnlink, Name: d.r.text(name)}).Err)
}

func (d files) look(kind steps.OpKind, name steps.Text) (steps.View, error) {
	r := d.r.ask(steps.Op{Kind: kind, Name: name})
	if r.Err != 0 {
		return steps.View{}, r.Err
	}
	return d.r.names.Views[r.Value], nil
}

// Stat implements link.FS.
func (d files) Stat(name string) (lockfile.Stat, error) {
	v, err := d.look(steps.OpStat, d.r.text(name))
	return d.stat(v, err)
}

func (d files) stat(v steps.View, err error) (lockfile.Stat, error) {
	if err != nil {
		return lockfile.Stat{}, err
	}
	return lockfile.Stat{Dev: 1, Ino: uint64(v.Number), Links: uint64(v.Links), Size: int64(len(d.r.names.Texts[v.Content])),
		Modified: epoch.Add(time.Duration(v.Stamp) * time.Millisecond)}, nil
}

// Read implements link.FS.
func (d files) Read(name string) (lockfile.Stat, string, error) {
	v, err := d.look(steps.OpRead, d.r.text(name))
	st, err := d.stat(v, err)
	return st, d.r.names.Texts[v.Content], err
}

// Open implements link.FS.
func (d files) Open(name string) (link.File, error) {
	v, err := d.look(steps.OpOpen, d.r.text(name))
	if err != nil {
		return nil, err
	}
	return handle{d, v.Born}, nil
}

// List implements link.FS.
func (d files) List() ([]string, error) { return dir(d).List(context.Background(), "") }

// Await implements link.FS.
func (d files) Await(ctx context.Context, name string, watched process.Process, wait time.Duration) {
	dir(d).Await(ctx, name, watched, wait)
}

// Close implements link.FS.
func (d files) Close() {}

// A handle is an open file.
type handle struct {
	files files
	born  steps.Text
}

// StatServer implements link.File.
func (h handle) StatServer() (lockfile.Stat, error) {
	v, err := h.files.look(steps.OpStatFile, h.born)
	return h.files.stat(v, err)
}

// Touch implements link.File.
func (h handle) Touch() error {
	return asError(h.files.r.ask(steps.Op{Kind: steps.OpTouchFile, Name: h.born}).Err)
}

// SetTime is used only for flufl.lock.
func (h handle) SetTime(time.Time) error { panic(ErrForeign) }

// Close implements link.File.
func (h handle) Close() error { return nil }
