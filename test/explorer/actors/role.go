//go:build unix

package actors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/backends/watch"
	"locksmith/protocol"
	"locksmith/test/explorer/steps"
)

// A Lock is the part of a backend.Backend that is explored.
type Lock interface {
	backend.Locker
	Read(context.Context) (backend.Report, error)
	Strike(context.Context, backend.Holder) error
}

// A System makes the code under test for one process.
type System func(Env) Lock

// A Host is one machine. Processes on one host share a cache and a clock, and see each other die.
type Host struct {
	Number int
	Skew   time.Duration // of its wall clock, against the server's
	Uptime time.Duration // what its monotonic clock shows when a run begins
}

// A Role is what one process does in a run.
type Role struct {
	System   System
	Host     Host
	Shared   bool
	Operator bool // it breaks a holder by its id, and does not acquire
	Waiters  bool // as the operator, it breaks a waiter first
	Lease    time.Duration
	Rounds   int // how many acquisitions, one after the other
	Beats    int // how many heartbeats in each round
	Waits    int // how often it waits before it gives up; 0: no limit
	// Short: it tries only once in each round, like a program of its own, and remembers what it
	// saw.
	Short     bool
	Bears     bool // it goes on after an error that may pass, as the helper does
	Strict    bool
	Tends     bool // it sweeps once while it holds, after its first heartbeat if it sends any
	Misjudges bool // it takes everybody else for dead
	Script    bool // it is no locksmith, and has neither a lease nor an entry
	Grace     time.Duration
	Keeps     bool          // its lock keeps something from one acquisition to the next
	Nap       time.Duration // how long the cleaner rests
	Naps      int           // how often the cleaner rests
	Sturdy    bool          // it does not crash
	Cleaner   bool          // it holds long enough to sweep what others left, by Tend
	Removes   bool          // it removes the lock in the end, unless somebody has come
}

// tries is how often a failing call is made at most, as by the helper.
const tries = 3

func (r Role) play(run *runner) {
	b := r.System(Env{run})
	if r.Operator {
		r.breakFirst(run, b)
		return
	}
	for round := range r.Rounds {
		run.wish = []any{run.serial, round}
		if r.Keeps {
			run.wish = append(run.wish, b)
		}
		r.acquire(run, b, round)
	}
	run.pause(0)
}

// acquire is the helper's loop: try and wait until held, work, release.
func (r Role) acquire(run *runner, b Lock, round int) {
	request := r.request(run)
	a, err := b.Attempt(request)
	if err != nil {
		run.note(Note{Kind: NoteError, Text: err.Error()})
		return
	}
	ctx := context.Background()
	for waits := 0; ; waits++ {
		run.note(Note{Kind: NoteTry})
		run.pause(fingerprint(run.wish...) + 1)
		h, err := a.Try(ctx)
		var held *backend.HeldError
		switch {
		case err == nil:
			run.wish = run.wish[:2] // the attempt is over
			r.hold(run, b, h, round)
			return
		case r.Bears && backend.Passes(err):
		case !errors.As(err, &held):
			run.note(Note{Kind: NoteError, Text: err.Error()})
			r.withdraw(run, a)
			return
		case r.Short || r.Waits > 0 && waits == r.Waits:
			run.note(Note{Kind: NoteGaveUp})
			r.withdraw(run, a)
			if m, ok := request.Memory.(*watch.Memory); ok {
				m.Save()
			}
			return
		}
		run.wish = []any{run.serial, round, min(waits, r.Waits), a}
		run.pause(fingerprint(run.wish...))
		_ = a.Wait(ctx)
	}
}

func (r Role) request(run *runner) backend.Request {
	mode := "exclusive"
	if r.Shared {
		mode = "shared"
	}
	request := backend.Request{
		Clock: Env{run}.Clock(), Timeout: backend.NoLimit,
		Strict: r.Strict, Grace: r.Grace,
		Owner: owner.Record{User: "u", Mode: mode, Lease: r.Lease,
			Helper: process.Process{PID: run.self + 1, Start: 1}},
	}
	if r.Short {
		request.Timeout = 0
		request.Memory = watch.NewMemory(fmt.Sprint("host ", r.Host.Number), shelf{run}, func(error) {})
	}
	return request
}

func (r Role) withdraw(run *runner, a backend.Attempt) {
	for range tries {
		if a.Withdraw(context.Background()) == nil {
			return
		}
	}
}

func (r Role) hold(run *runner, b Lock, h backend.Hold, round int) {
	run.note(Note{Kind: NoteHeld, Token: h.Token(), Serial: steps.MakerOf(h.ID()).Serial})
	run.pause(fingerprint(run.serial, round, 0, h))
	run.work(0)
	if r.Tends && r.Beats == 0 {
		r.tend(run, h, round)
	}
	for beat := range r.Beats {
		r.beat(run, h)
		run.pause(fingerprint(run.serial, round, beat+1, h))
		run.work(0)
		if r.Tends && beat == 0 {
			r.tend(run, h, round)
		}
	}
	if r.Cleaner {
		r.clean(run, h)
	}
	for range tries {
		run.note(Note{Kind: NoteReleaseBegins})
		err := r.release(b, h)
		run.note(Note{Kind: NoteReleased}.with(err))
		if err == nil || errors.Is(err, backend.ErrGone) {
			return
		}
	}
}

func (r Role) tend(run *runner, h backend.Hold, round int) {
	_ = h.Tend(context.Background())
	run.pause(fingerprint(run.serial, round, -1, h))
	run.work(0)
}

func (r Role) release(b Lock, h backend.Hold) error {
	if !r.Removes {
		return h.Release(context.Background())
	}
	err := b.(backend.Remover).Remove(context.Background(), h)
	if backend.CodeOf(err) == protocol.Held { // somebody has come, so the lock was only released
		return nil
	}
	return err
}

func (r Role) beat(run *runner, h backend.Hold) {
	run.note(Note{Kind: NoteBeatBegins})
	err := h.Heartbeat(context.Background())
	run.note(Note{Kind: NoteBeat}.with(err))
}

// clean holds for several leases, because what crashed processes left must be watched for one
// lease.
func (r Role) clean(run *runner, h backend.Hold) {
	for range r.Naps {
		_ = h.Tend(context.Background())
		run.work(r.Nap)
		r.beat(run, h)
	}
}

// breakFirst is the operator: it looks who holds, thinks about it, and removes that holder as it was
// seen.
func (r Role) breakFirst(run *runner, b Lock) {
	ctx := context.Background()
	report, err := b.Read(ctx)
	if err != nil {
		run.note(Note{Kind: NoteError, Text: err.Error()})
		return
	}
	all := report.Holders
	if r.Waiters {
		all = append(report.Waiters, all...)
	}
	for _, h := range all {
		if h.Record == nil {
			continue
		}
		who := steps.MakerOf(h.Record.ID)
		run.work(0)
		run.note(Note{Kind: NoteCondemned, Token: uint64(who.Process), Serial: who.Serial})
		err := b.Strike(ctx, h)
		if err != nil && !errors.Is(err, backend.ErrGone) {
			run.note(Note{Kind: NoteError, Text: err.Error()})
		}
		return
	}
}

// work lets time pass for the process's own work.
func (r *runner) work(d time.Duration) { r.ask(steps.Op{Kind: steps.OpWork, Wait: steps.Millis(d)}) }
