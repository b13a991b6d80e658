//go:build unix

package soak

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/locksmith"
	"locksmith/protocol"
)

// errEnough is the reason why a helper's lock is not wanted any more.
var errEnough = errors.New("it was held for long enough")

// A helper makes a visit: it wants the lock of a site, and is its own Client.
type helper struct {
	client
	visit
	site   *site
	pid    int
	wanted context.Context
	leave  context.CancelCauseFunc
	waited int          // how often it was told that it waits
	since  time.Time    // it holds
	holds  *atomic.Bool // from then on
	over   bool         // it crashed as it began to hold
}

// live goes through a helper's whole life, or through a part of it if the helper crashes.
func (h *helper) live() {
	defer h.site.gone()
	defer h.leave(nil)
	_, err := (&locksmith.Helper{
		Address: h.site.kind.name, Locker: h.site.kind.open(h), Request: h.request(), Client: h,
		Timeout: h.timeout, Refresh: h.site.kind.refresh, ReleaseTimeout: locksmith.ReleaseTimeout, Log: hclog.NewNullLogger(),
	}).Run()
	h.site.ended(h, locksmith.CodeOf(err), err)
}

func (h *helper) request() backend.Request {
	return backend.Request{Clock: bubbleTime{}, Timeout: backend.NoLimit, Grace: h.site.kind.respite, Owner: owner.Record{
		Place: owner.Place{Host: h.host}, Helper: process.Process{PID: h.pid}, User: "tester", Mode: h.mode, Lease: h.lease}}
}

// judge knows who of the same host is dead.
func (h *helper) judge(r owner.Record) owner.Verdict {
	switch {
	case r.Place.Host != h.host:
		return owner.Unknown
	case h.site.isDead(r.Helper.PID):
		return owner.Dead
	}
	return owner.Alive
}

// Context implements locksmith.Client. The helper calls it in its own goroutine, unlike Start.
func (h *helper) Context() context.Context {
	if h.over {
		runtime.Goexit()
	}
	return h.wanted
}

// Waiting implements locksmith.Client. By the second call a waiter has made all that it ever has
// at the lock's place.
func (h *helper) Waiting(*backend.HeldError) {
	if h.waited++; h.end == crashesWaiting && h.waited > 1 {
		h.crash()
	}
}

// Start implements locksmith.Client.
func (h *helper) Start(g protocol.Grant) error {
	h.site.enter(h, g.Token)
	h.since = time.Now()
	h.holds.Store(true)
	if h.end == crashes && h.hold == 0 {
		h.over = true
		h.die()
		return nil
	}
	h.Beat(0)
	time.AfterFunc(h.hold, func() { h.leave(errEnough) })
	return nil
}

// Beat implements locksmith.Client.
func (h *helper) Beat(time.Duration) {
	if time.Since(h.since) < h.hold/2 {
		return
	}
	switch h.end {
	case crashes:
		h.crash()
	case cutOff:
		h.client.die()
	}
}

// Lost implements locksmith.Client.
func (h *helper) Lost(context.Context, *locksmith.LossError) { h.site.exit(h) }

// crash ends the helper where it is. Nothing that it does any more has an effect.
func (h *helper) crash() {
	h.die()
	runtime.Goexit()
}

func (h *helper) die() {
	h.client.die()
	h.site.died(h)
}
