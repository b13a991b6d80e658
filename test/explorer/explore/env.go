package explore

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"locksmith/backends/clock"
	"locksmith/backends/generation/symlinks"
	"locksmith/backends/owner"
	"locksmith/backends/process"
)

// An Env is everything that the code under test may see of the world.
type Env struct{ runner *runner }

// Dir is the directory of the lock.
func (e Env) Dir() symlinks.Dir { return dir{e.runner} }

// Clock is the clock of the process' host.
func (e Env) Clock() clock.Clock { return bootClock{e.runner} }

// NewID is owner.NewID, but its ids tell us later who made a name.
func (e Env) NewID() string {
	e.runner.serial++
	return newID(e.runner.self, e.runner.serial)
}

// Today is the wall clock of the process' host.
func (e Env) Today() time.Time {
	ms := e.runner.ask(op{kind: opToday}).value
	return epoch.Add(time.Duration(ms)*time.Millisecond + e.runner.role.Host.Skew)
}

// Judge knows whether a process of the same host has crashed.
func (e Env) Judge(r owner.Record) owner.Verdict {
	who := r.Helper.PID - 1
	v := e.runner.ask(op{kind: opJudge, subject: int8(who)}).value
	return verdicts[v]
}

// Owner is what an algorithm needs from the place where it runs. The end of a process cannot be
// watched.
func (e Env) Owner() owner.Env { return owner.Env{NewID: e.NewID, Judge: e.Judge, Today: e.Today} }

var verdicts = []owner.Verdict{owner.Unknown, owner.Alive, owner.Dead}

// epoch is the wall clock when a run begins, also the server's. It has digits that times in
// coarse steps do not have (watch.IsFine).
var epoch = time.Unix(1_700_000_000, 1000)

// ErrForeign is returned for calls that the simulation does not know.
var ErrForeign = errors.New("the simulation does not know this")

// A shelf is where tries leave what they remember. It implements watch.Store.
type shelf struct{ r *runner }

func (s shelf) Load() (string, error) { return s.r.names.texts[s.r.ask(op{kind: opRecall}).value], nil }

func (s shelf) Save(text string) error {
	s.r.ask(op{kind: opRemember, to: s.r.text(text)})
	return nil
}

type dir struct{ r *runner }

func (d dir) change(kind opKind, name string) error {
	return asError(d.r.ask(op{kind: kind, name: d.r.text(path.Clean(name))}).err)
}

func (d dir) Prepare(context.Context) error               { return nil } // it exists from the beginning
func (d dir) Mkdir(_ context.Context, name string) error  { return d.change(opMkdir, name) }
func (d dir) Rmdir(_ context.Context, name string) error  { return d.change(opRmdir, name) }
func (d dir) Unlink(_ context.Context, name string) error { return d.change(opUnlink, name) }
func (d dir) Touch(_ context.Context, name string) error  { return d.change(opTouch, name) }

func (d dir) Rename(_ context.Context, from, to string) error {
	return asError(d.r.ask(op{kind: opRename, name: d.r.text(from), to: d.r.text(to)}).err)
}

func (d dir) Symlink(_ context.Context, target, name string) error {
	return asError(d.r.ask(op{kind: opSymlink, name: d.r.text(name), to: d.r.text(target)}).err)
}

func (d dir) Readlink(_ context.Context, name string) (string, error) {
	r := d.r.ask(op{kind: opReadlink, name: d.r.text(name)})
	if r.err != 0 {
		return "", r.err
	}
	return d.r.names.texts[r.value], nil
}

func (d dir) List(_ context.Context, name string) ([]string, error) {
	r := d.r.ask(op{kind: opList, name: d.r.text(name)})
	if r.err != 0 {
		return nil, r.err
	}
	var all []string
	for _, t := range d.r.names.listings[r.value] {
		all = append(all, d.r.names.base(t))
	}
	return all, nil
}

func (d dir) Look(_ context.Context, name string) (symlinks.Sight, error) {
	r := d.r.ask(op{kind: opLook, name: d.r.text(path.Clean(name))})
	if r.err != 0 {
		return symlinks.Sight{}, r.err
	}
	s := unpackSight(r.value)
	modified := epoch.Add(time.Duration(s.stamp) * time.Millisecond)
	return symlinks.Sight{Sign: fmt.Sprint(s.stamp), Modified: modified, Links: uint64(s.links)}, nil
}

// Await also marks a place between two calls: only the loop of Wait calls it, and that loop keeps
// all that it knows in the attempt.
func (d dir) Await(_ context.Context, _ string, _ process.Process, wait time.Duration, _ ...int) {
	d.r.pause(fingerprint(d.r.wish...) + uint64(wait) + 1)
	d.r.ask(op{kind: opAwait, wait: millis(wait)})
}

type bootClock struct{ r *runner }

func (c bootClock) Now() time.Duration {
	ms := c.r.ask(op{kind: opNow}).value
	return c.r.role.Host.Uptime + time.Duration(ms)*time.Millisecond
}

// NewTimer waits at once: an algorithm without Dir.Await sleeps only in the loop of Wait.
func (c bootClock) NewTimer(d time.Duration) clock.Timer {
	dir(c).Await(context.Background(), "", process.Process{}, d)
	return over{}
}

// over is a timer that has fired.
type over struct{}

func (over) C() <-chan time.Time {
	c := make(chan time.Time, 1)
	c <- epoch
	return c
}

func (over) Stop() {}
