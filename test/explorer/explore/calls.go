package explore

import (
	"context"
	"errors"
	"io"
	"path"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/mkdirlock"
	"locksmith/backends/process"
)

// Calls is the directory in which a lock of directories is.
func (e Env) Calls() mkdirlock.Dir { return calls{e.runner} }

type calls struct{ r *runner }

func (d calls) text(name string) text {
	if name = path.Clean(name); name == "." {
		name = ""
	}
	return d.r.text(name)
}

// Mkdir implements mkdirlock.Dir.
func (d calls) Mkdir(_ context.Context, name string) error {
	return d.asked(op{kind: opMkdir, name: d.text(name)})
}

// Rmdir implements mkdirlock.Dir.
func (d calls) Rmdir(_ context.Context, name string) error {
	return d.asked(op{kind: opRmdir, name: d.text(name)})
}

// Rename implements mkdirlock.Dir.
func (d calls) Rename(_ context.Context, from, to string) error {
	return d.asked(op{kind: opRename, name: d.text(from), to: d.text(to)})
}

// Disk is the same on a disk of one machine.
func (e Env) Disk() mkdirlock.Dir { return disk{calls{e.runner}} }

type disk struct{ calls }

// RenameNew implements mkdirlock.Disk.
func (d disk) RenameNew(_ context.Context, from, to string) error {
	err := d.asked(op{kind: opRenameNew, name: d.text(from), to: d.text(to)})
	if errors.Is(err, unix.EINVAL) {
		return errors.ErrUnsupported
	}
	return err
}

// Stake implements mkdirlock.Disk.
func (d disk) Stake(_ context.Context, name string) (io.Closer, error) { return d.pin(opStake, name) }

// Pin implements mkdirlock.Disk.
func (d disk) Pin(_ context.Context, name string) (io.Closer, error) { return d.pin(opPin, name) }

func (d disk) pin(kind opKind, name string) (io.Closer, error) {
	r := d.r.ask(op{kind: kind, name: d.text(name)})
	if r.err != 0 {
		return nil, mkdirlock.Outcome(r.err)
	}
	return pin{d.r, text(r.value)}, nil
}

// A pin is that of a directory that was staked under a name; 0 is none that matters.
type pin struct {
	r    *runner
	born text
}

func (p pin) Close() error {
	if p.born != 0 {
		p.r.ask(op{kind: opUnpin, name: p.born})
	}
	return nil
}

// RemoveAbandoned implements mkdirlock.Disk.
func (d disk) RemoveAbandoned(_ context.Context, name string) error {
	return d.asked(op{kind: opRemoveAbandoned, name: d.text(name)})
}

var _ mkdirlock.Disk = disk{}

func (d calls) asked(o op) error {
	if e := d.r.ask(o).err; e != 0 {
		return mkdirlock.Outcome(e)
	}
	return nil
}

// List implements mkdirlock.Dir.
func (d calls) List(_ context.Context, name string) ([]string, error) {
	names, err := dir(d).List(string(d.r.names.texts[d.text(name)]))
	if err != nil {
		return nil, mkdirlock.Outcome(err)
	}
	return names, nil
}

// Await implements mkdirlock.Dir.
func (d calls) Await(ctx context.Context, name string, keeper process.Process, wait time.Duration) {
	dir(d).Await(ctx, name, keeper, wait)
}

// Close implements mkdirlock.Dir.
func (d calls) Close() {}
