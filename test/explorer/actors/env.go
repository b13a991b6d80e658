//go:build unix

// Package actors has the processes: the code under test, which runs for real.
//
// A process is its answers so far. The code under test is deterministic: it gets its ids, clocks,
// verdicts and the file system from outside (Env). So what a process does next depends only on
// the answers that it got, and the code has to run just once for each new answer (Graph, runner).
// After that a step of the search is a look-up. Between two calls a process is even less: the
// values that it holds (fingerprint). Where ways lead to equal values, they join.
package actors

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
	"locksmith/test/explorer/steps"
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
	return steps.NewID(e.runner.self, e.runner.serial)
}

// Today is the wall clock of the process' host.
func (e Env) Today() time.Time {
	ms := e.runner.ask(steps.Op{Kind: steps.OpToday}).Value
	return epoch.Add(time.Duration(ms)*time.Millisecond + e.runner.role.Host.Skew)
}

// Judge knows whether a process of the same host has crashed.
func (e Env) Judge(r owner.Record) owner.Verdict {
	who := r.Helper.PID - 1
	v := e.runner.ask(steps.Op{Kind: steps.OpJudge, Subject: int8(who)}).Value
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

func (s shelf) Load() (string, error) {
	return s.r.names.Texts[s.r.ask(steps.Op{Kind: steps.OpRecall}).Value], nil
}

func (s shelf) Save(text string) error {
	s.r.ask(steps.Op{Kind: steps.OpRemember, To: s.r.text(text)})
	return nil
}

type dir struct{ r *runner }

func (d dir) change(kind steps.OpKind, name string) error {
	return asError(d.r.ask(steps.Op{Kind: kind, Name: d.r.text(path.Clean(name))}).Err)
}

func (d dir) Prepare(context.Context) error               { return nil } // it exists from the beginning
func (d dir) Mkdir(_ context.Context, name string) error  { return d.change(steps.OpMkdir, name) }
func (d dir) Rmdir(_ context.Context, name string) error  { return d.change(steps.OpRmdir, name) }
func (d dir) Unlink(_ context.Context, name string) error { return d.change(steps.OpUnlink, name) }
func (d dir) Touch(_ context.Context, name string) error  { return d.change(steps.OpTouch, name) }

func (d dir) Rename(_ context.Context, from, to string) error {
	return asError(d.r.ask(steps.Op{Kind: steps.OpRename, Name: d.r.text(from), To: d.r.text(to)}).Err)
}

func (d dir) Symlink(_ context.Context, target, name string) error {
	return asError(d.r.ask(steps.Op{Kind: steps.OpSymlink, Name: d.r.text(name), To: d.r.text(target)}).Err)
}

func (d dir) Readlink(_ context.Context, name string) (string, error) {
	return d.readlink(steps.OpReadlink, name)
}

func (d dir) ReadlinkNow(_ context.Context, name string) (string, error) {
	return d.readlink(steps.OpReadlinkNow, name)
}

func (d dir) Keep(_ context.Context, link string, others ...string) {
	names := []steps.Text{d.r.text(link)}
	for _, name := range others {
		names = append(names, d.r.text(name))
	}
	d.r.ask(steps.Op{Kind: steps.OpKeep, To: steps.Text(d.r.names.Listing(names))})
}

func (d dir) readlink(kind steps.OpKind, name string) (string, error) {
	r := d.r.ask(steps.Op{Kind: kind, Name: d.r.text(name)})
	if r.Err != 0 {
		return "", r.Err
	}
	return d.r.names.Texts[r.Value], nil
}

func (d dir) List(_ context.Context, name string) ([]string, error) {
	r := d.r.ask(steps.Op{Kind: steps.OpList, Name: d.r.text(name)})
	if r.Err != 0 {
		return nil, r.Err
	}
	var all []string
	for _, t := range d.r.names.Listings[r.Value] {
		all = append(all, d.r.names.Base(t))
	}
	return all, nil
}

func (d dir) Look(_ context.Context, name string) (symlinks.Sight, error) {
	r := d.r.ask(steps.Op{Kind: steps.OpLook, Name: d.r.text(path.Clean(name))})
	if r.Err != 0 {
		return symlinks.Sight{}, r.Err
	}
	s := steps.UnpackSight(r.Value)
	modified := epoch.Add(time.Duration(s.Stamp) * time.Millisecond)
	return symlinks.Sight{Sign: fmt.Sprint(s.Stamp), Modified: modified, Links: uint64(s.Links)}, nil
}

// Await also marks a place between two calls: only the loop of Wait calls it, and that loop keeps
// all that it knows in the attempt.
func (d dir) Await(_ context.Context, _ string, _ process.Process, wait time.Duration, _ ...int) {
	d.r.pause(fingerprint(d.r.wish...) + uint64(wait) + 1)
	d.r.ask(steps.Op{Kind: steps.OpAwait, Wait: steps.Millis(wait)})
}

type bootClock struct{ r *runner }

func (c bootClock) Now() time.Duration {
	ms := c.r.ask(steps.Op{Kind: steps.OpNow}).Value
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
