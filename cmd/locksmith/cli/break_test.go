package cli

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends"
	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/cmd/locksmith/cli/show"
	"locksmith/protocol"
)

func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{
		"nfs:/a/b-c_1.lock":   "nfs:/a/b-c_1.lock",
		"mkdir:/a?style=dir":  "'mkdir:/a?style=dir'",
		"local:/it's":         `'local:/it'\''s'`,
		"":                    "''",
		"ftp://u@h:21/a%20b":  "ftp://u@h:21/a%20b",
		"local:/a b;rm -rf $": "'local:/a b;rm -rf $'",
	} {
		if got := quoted(word); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}

// A scene is a lock with a holder or a waiter, as each look sees it.
type scene struct {
	backend.Backend
	looks []func(*backend.Report)
}

func (s *scene) Read(context.Context) (backend.Report, error) {
	var r backend.Report
	s.looks[0](&r)
	if len(s.looks) > 1 {
		s.looks = s.looks[1:]
	}
	return r, nil
}

func seen(h backend.Holder) func(*backend.Report) {
	return func(r *backend.Report) { r.Holders = append(r.Holders, h) }
}

// TestObserve: somebody whom nothing proves dead is watched until the lease is over, and then
// may be broken.
func TestObserve(t *testing.T) {
	silent := backend.Holder{ID: "a", Verdict: owner.Unknown, Lease: time.Minute, Sign: "1"}
	beating, blind, quick, unknown, dead, seenBefore, slow := silent, silent, silent, silent, silent, silent, silent
	beating.Sign, blind.Sign, unknown.Lease, dead.Verdict = "2", "", 0, owner.Dead
	quick.Record = &owner.Record{Lease: time.Minute, Refresh: 8 * time.Second}
	seenBefore.Silent, slow.Silence = 40*time.Second, 100*time.Second
	waiting := func(r *backend.Report) { r.Waiters = append(r.Waiters, silent) }
	other := silent
	other.ID = "b"
	for _, c := range []struct {
		name  string
		watch time.Duration // --watch
		first backend.Holder
		then  []func(*backend.Report)
		code  protocol.Code // "": it may be broken
		says  string
		took  time.Duration // less than 0: it may take any time
	}{
		{"silent", 0, silent, []func(*backend.Report){seen(silent)}, "", "", 60600 * time.Millisecond},
		{"a stall", 0, silent, []func(*backend.Report){seen(silent), seen(silent), seen(silent), seen(beating)}, protocol.Held, "heartbeat moves", -1},
		{"dies", 0, silent, []func(*backend.Report){seen(dead)}, "", "", -1},
		{"ends", 0, silent, []func(*backend.Report){seen(other)}, protocol.Gone, "by itself", -1},
		{"gets the lock", 0, silent, []func(*backend.Report){waiting}, protocol.Held, "got the lock", -1},
		{"blind", 0, blind, []func(*backend.Report){seen(blind)}, protocol.Held, "nothing tells", 0},
		{"more heartbeats prove nothing", 0, quick, []func(*backend.Report){seen(quick)}, "", "", 60600 * time.Millisecond},
		{"seen before", 0, seenBefore, []func(*backend.Report){seen(silent)}, "", "", 20600 * time.Millisecond},
		{"slow heartbeats", 0, slow, []func(*backend.Report){seen(slow)}, "", "", 105 * time.Second},
		{"no lease", 0, unknown, []func(*backend.Report){seen(unknown)}, "", "", 3636 * time.Second},
		{"no lease, but --watch", 30 * time.Second, unknown, []func(*backend.Report){seen(unknown)}, "", "", 30 * time.Second},
		{"less than a lease", 30 * time.Second, silent, nil, protocol.Held, "watched for 1m1s, until its lease is over; leave out --watch", 0},
		{"more than a lease", time.Hour, silent, []func(*backend.Report){seen(silent)}, "", "", 60600 * time.Millisecond},
		{"dead", 0, dead, nil, "", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scene{looks: c.then}
				b := &breaking{clock: clock.Runtime{}, backend: s, address: "link:/x", kinds: backends.Usual(), id: "a", watch: c.watch, asJSON: true}
				start := time.Now()
				err := b.ask(t.Context(), show.Participant{Holder: c.first})
				if (c.code == "") != (err == nil) || err != nil && (codeOf(err) != c.code || !strings.Contains(err.Error(), c.says)) {
					t.Errorf("watching it ends with %v, want code %q, and the text of the table", err, c.code)
				}
				if took := time.Since(start); c.took >= 0 && (took < c.took || took > c.took+time.Second) {
					t.Errorf("the watch took %v, want %v", took, c.took)
				}
			})
		})
	}
}

// TestRest: a user who breaks a lock by force is told for how long the guarded command may still
// run.
func TestRest(t *testing.T) {
	holder := backend.Holder{Verdict: owner.Unknown, Lease: time.Minute, Silent: 12 * time.Second}
	over, dead, orphaned, unknown, alive := holder, holder, holder, holder, holder
	over.Silent, dead.Verdict, orphaned.Verdict, unknown.Lease, alive.Verdict = time.Hour, owner.Dead, owner.Orphaned, 0, owner.Alive
	alive.Silent = 0
	for _, c := range []struct {
		who  show.Participant
		left time.Duration
		says string
	}{
		{show.Participant{Holder: holder}, 48 * time.Second, "may still run for 48s, until its lease is over; for longer if its helper is stopped"},
		{show.Participant{Holder: alive}, time.Minute, "for 1m0s"},
		{show.Participant{Holder: over}, 0, "its lease is over"},
		{show.Participant{Holder: dead}, 0, ""},
		{show.Participant{Holder: holder, Waits: true}, 0, ""},
		{show.Participant{Holder: orphaned}, -1, "nothing ends what its command left running"},
		{show.Participant{Holder: unknown}, -1, "nothing tells for how long"},
	} {
		if left, text := rest(c.who); left != c.left || !strings.Contains(text, c.says) || (text == "") != (c.says == "") {
			t.Errorf("after a break of %+v what it guards may run for %v, %q, want %v, %q", c.who, left, text, c.left, c.says)
		}
	}
}

// TestObserveInterrupted: a signal ends the watch, and nothing is broken.
func TestObserveInterrupted(t *testing.T) {
	h := backend.Holder{ID: "a", Verdict: owner.Unknown, Lease: time.Minute, Sign: "1"}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("signal")
	cancel(cause)
	b := &breaking{clock: clock.Runtime{}, backend: &scene{looks: []func(*backend.Report){seen(h)}}, id: "a", asJSON: true}
	if err := b.ask(ctx, show.Participant{Holder: h}); !errors.Is(err, cause) {
		t.Error(err)
	}
}
