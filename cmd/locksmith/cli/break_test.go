package cli

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

func (s *scene) Inspect(context.Context) (backend.Report, error) {
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

// TestObserve: how long somebody is watched of whom there is no proof, and what then.
func TestObserve(t *testing.T) {
	silent := backend.Holder{ID: "a", Verdict: owner.Unknown, Lease: time.Minute, Sign: "1"}
	beating, blind, long, quick, unknown, dead := silent, silent, silent, silent, silent, silent
	beating.Sign, blind.Sign, long.Lease, unknown.Lease, dead.Verdict = "2", "", time.Hour, 0, owner.Dead
	slow := silent
	slow.Silence = slow.Lease
	quick.Lease, quick.Record = time.Hour, &owner.Record{Lease: time.Hour, Refresh: 8 * time.Second}
	waiting := func(r *backend.Report) { r.Waiters = append(r.Waiters, silent) }
	other := silent
	other.ID = "b"
	for _, c := range []struct {
		name  string
		first backend.Holder
		then  []func(*backend.Report)
		code  protocol.Code // "": it may be broken
		says  string
		took  time.Duration
	}{
		{"silent", silent, []func(*backend.Report){seen(silent)}, "", "", 17 * time.Second},
		{"beating", silent, []func(*backend.Report){seen(silent), seen(beating)}, protocol.Held, "heartbeat moves", 0},
		{"dies", silent, []func(*backend.Report){seen(dead)}, "", "", 0},
		{"ends", silent, []func(*backend.Report){seen(other)}, protocol.Gone, "by itself", 0},
		{"gets the lock", silent, []func(*backend.Report){waiting}, protocol.Held, "got the lock", 0},
		{"blind", blind, []func(*backend.Report){seen(blind)}, protocol.Held, "nothing tells", 0},
		{"long lease", long, []func(*backend.Report){seen(long)}, protocol.Held, "--watch 15m37s", 0},
		{"long lease, but more heartbeats", quick, []func(*backend.Report){seen(quick)}, "", "", 26 * time.Second},
		{"slow heartbeats", slow, []func(*backend.Report){seen(slow)}, protocol.Held, "--watch 1m3s", 0},
		{"no lease", unknown, []func(*backend.Report){seen(unknown)}, "", "", 30 * time.Second},
		{"dead", dead, nil, "", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scene{looks: c.then}
				b := &breaking{clock: clock.Runtime{}, backend: s, id: "a", watch: 30 * time.Second, asJSON: true}
				start := time.Now()
				err := b.ask(t.Context(), show.Participant{Holder: c.first})
				if (c.code == "") != (err == nil) || err != nil && (codeOf(err) != c.code || !strings.Contains(err.Error(), c.says)) {
					t.Errorf("%v, want code %q", err, c.code)
				}
				if took := time.Since(start); c.code == "" && (took < c.took || took > c.took+time.Second+c.took/8) && c.name != "dies" {
					t.Errorf("it took %v, want %v", took, c.took)
				}
			})
		})
	}
}

// TestObserveInterrupted: a signal ends the watch, and nothing is broken.
func TestObserveInterrupted(t *testing.T) {
	h := backend.Holder{ID: "a", Verdict: owner.Unknown, Lease: time.Minute, Sign: "1"}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("signal")
	cancel(cause)
	b := &breaking{clock: clock.Runtime{}, backend: &scene{looks: []func(*backend.Report){seen(h)}}, id: "a", watch: time.Hour, asJSON: true}
	if err := b.ask(ctx, show.Participant{Holder: h}); !errors.Is(err, cause) {
		t.Error(err)
	}
}
