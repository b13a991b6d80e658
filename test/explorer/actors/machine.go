//go:build unix

package actors

import (
	"context"
	"time"

	"locksmith/backends/local"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/test/explorer/steps"
)

// Machine is the kernel of the machine with the lock file.
func (e Env) Machine() local.System { return machineOf{e.runner} }

// Near is Owner for processes of one machine, which see each other. An id counts as used when it
// is written into a file.
func (e Env) Near() owner.Env {
	env := e.Owner()
	env.NewID = func() string { return steps.NewID(e.runner.self, e.runner.serial+1) }
	env.ToWatch = func(r owner.Record) (process.Process, bool) { return r.Helper, e.Judge(r) == owner.Alive }
	return env
}

type machineOf struct{ r *runner }

// Create implements local.System.
func (m machineOf) Create() (local.File, error) { return m.opened(steps.OpMake) }

// Open implements local.System.
func (m machineOf) Open() (local.File, error) { return m.opened(steps.OpOpenLock) }

func (m machineOf) opened(kind steps.OpKind) (local.File, error) {
	r := m.r.ask(steps.Op{Kind: kind})
	if r.Err != 0 {
		return nil, r.Err
	}
	return descriptor{r: m.r, fd: int8(r.Value)}, nil
}

// Close implements local.System.
func (m machineOf) Close() {}

// Queue implements local.System. The kernel gives its lock while the process asks for something
// else.
func (m machineOf) Queue(f local.File, given func(error)) {
	m.r.given = given
	m.r.ask(steps.Op{Kind: steps.OpQueue, Subject: f.(descriptor).fd})
}

// Seat implements local.System.
func (m machineOf) Seat(f local.File, _ int64) (bool, error) {
	return m.r.ask(steps.Op{Kind: steps.OpSit, Subject: f.(descriptor).fd}).Value != 0, nil
}

// Poll implements local.System.
func (m machineOf) Poll(_ context.Context, w local.Watched) error {
	if w.Still() {
		m.r.ask(steps.Op{Kind: steps.OpAwait, Wait: steps.Millis(w.Timeout)})
	}
	return nil
}

// Rest implements local.System.
func (m machineOf) Rest(_ context.Context, bell <-chan struct{}, timeout time.Duration) error {
	select {
	case <-bell:
	default:
		m.r.ask(steps.Op{Kind: steps.OpRest, Wait: steps.Millis(timeout)})
	}
	return nil
}

// Random implements local.System.
func (m machineOf) Random(time.Duration) time.Duration { return 0 }

// A descriptor is an open lock file.
type descriptor struct {
	local.File // nothing else is asked of it
	r          *runner
	fd         int8
}

func (d descriptor) ask(kind steps.OpKind) steps.Reply {
	return d.r.ask(steps.Op{Kind: kind, Subject: d.fd})
}

func (d descriptor) look(kind steps.OpKind) steps.View { return d.r.names.Views[d.ask(kind).Value] }

// Stat implements local.File.
func (d descriptor) Stat() (lockfile.Stat, error) {
	v := d.look(steps.OpSize)
	return lockfile.Stat{Dev: 1, Ino: uint64(v.Number), Links: 1, Size: int64(v.Links), Marked: true, Own: true,
		Modified: epoch.Add(time.Duration(v.Stamp) * time.Millisecond)}, nil
}

// Read implements local.File.
func (d descriptor) Text() (string, error) {
	return d.r.names.Texts[d.look(steps.OpText).Content], nil
}

// Write implements local.File.
func (d descriptor) Write(text string) error {
	d.r.serial++
	d.r.ask(steps.Op{Kind: steps.OpFill, Subject: d.fd, To: d.r.text(text)})
	return nil
}

// Share implements local.File. All processes are of one user.
func (d descriptor) Share() error { return nil }

// TouchQuietly implements local.File.
func (d descriptor) TouchQuietly() error { d.ask(steps.OpStamp); return nil }

// TryLock implements local.File.
func (d descriptor) TryLock() (bool, error) { return d.ask(steps.OpFlock).Err == 0, nil }

// LockWithin implements local.File. Others may keep the lock for all that time.
func (d descriptor) LockWithin(time.Duration) (bool, error) { return d.TryLock() }

// Named implements local.File.
func (d descriptor) Named() error {
	if d.ask(steps.OpNamed).Err != 0 {
		return lockfile.ErrReplaced
	}
	return nil
}

// Unlink implements local.File.
func (d descriptor) Unlink() error { return asError(d.ask(steps.OpRemove).Err) }

// Close implements local.File.
func (d descriptor) Close() error { d.ask(steps.OpShut); return nil }

// RemoveByHand removes the lock file, whoever has made it, as a person may do.
func (e Env) RemoveByHand() { e.runner.ask(steps.Op{Kind: steps.OpByHand}) }
