package client_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"locksmith/backends/owner"
	"locksmith/client"
	"locksmith/test/lab"
)

// TestUsage: what makes no sense is refused by the client, in its own words: they name the lock and
// the option, and no flag of the command line. Nothing panics.
func TestUsage(t *testing.T) {
	for name, option := range map[string]client.Option{
		"Lease(0s)": client.Lease(0), "Lease(1ns)": client.Lease(time.Nanosecond), "Lease(-5s)": client.Lease(-5 * time.Second),
		"Lease(8784h0m0.000000001s)": client.Lease(owner.MaxLease + 1), "Retries(-1)": client.Retries(-1),
		"MaxHold(0s)": client.MaxHold(0), "MaxHold(-1s)": client.MaxHold(-time.Second), "MaxHold(8784h0m0.000000001s)": client.MaxHold(owner.MaxLease + 1),
		"Refresh: 30s": client.Tuning{Refresh: 30 * time.Second}, "Refresh: 1ms": client.Tuning{Refresh: time.Millisecond}, "Refresh: -1s": client.Tuning{Refresh: -time.Second},
		"Respite: -1s": client.Tuning{Respite: -time.Second}, "PollLeast: 2s, PollMost: 1s": client.Tuning{PollLeast: 2 * time.Second, PollMost: time.Second},
		"PollLeast: 0s, PollMost: 1s": client.Tuning{PollMost: time.Second}, "SlowLeast: 1s, SlowMost: 0s": client.Tuning{SlowLeast: time.Second},
		"key \"A\"": client.Meta(map[string]string{"A": "1"}), "key \"\"": client.Meta(map[string]string{"": "1"}), "value of \"a\"": client.Meta(map[string]string{"a": "\x00"}),
		"Slog": client.Slog(nil), "Waiting": client.Waiting(nil), "Wait:": client.Wait(nil), "an option is nil": nil,
		"Helper: it names no program": client.Helper(), "Helper: the command": client.Helper("locksmith", "\x00"),
		"an address is empty": client.And(""), "\"local:/\\x00\"": client.Or("local:/\x00"), "1025 locks": client.And(make([]string, 1024)...),
	} {
		mustBeUsage(t, name, "local:/x", option)
	}
	mustBeUsage(t, "And and Or", "local:/x", client.And("local:/y"), client.Or("local:/z"))
	mustBeUsage(t, "zero", "local:/\x00zero")
	mustBeUsage(t, "\\xff", "local:/\xff")
	mustBeUsage(t, "an address is empty", "")
	mustBeUsage(t, "an address is empty", "shared:")
	var none context.Context
	if _, err := client.Acquire(none, "local:/x"); !errors.Is(err, client.ErrUsage) {
		t.Errorf("a context that is nil: %v", err)
	}
}

func mustBeUsage(t *testing.T, names, address string, options ...client.Option) {
	t.Helper()
	p := &client.Pool{Size: 1}
	defer p.Close()
	for _, acquire := range []func(context.Context, string, ...client.Option) (*client.Lock, error){client.Acquire, p.TryAcquire} {
		l, err := acquire(t.Context(), address, options...)
		if err == nil {
			_ = l.Release()
		}
		if text := ""; !errors.Is(err, client.ErrUsage) {
			t.Errorf("%s: Acquire returns %v, want ErrUsage", names, err)
		} else if text = err.Error(); !strings.Contains(text, names) || strings.Contains(text, "--") || strings.Contains(text, "\x00") || address == "local:/x" && !strings.HasPrefix(text, address) {
			t.Errorf("%s: it says %q, want the lock and the option, and no flag", names, text)
		}
	}
}

// TestTimeoutInThePast: a timeout that is over is one try.
func TestTimeoutInThePast(t *testing.T) {
	address, _ := newLock(t)
	var l *client.Lock
	var err error
	lab.Eventually(t, "one try takes the lock, for which a busy machine may need several", func() bool {
		l, err = client.Acquire(t.Context(), address, client.Timeout(-time.Hour))
		return err == nil
	}, func() string { return err.Error() })
	if _, err := answered(t, func() (*client.Lock, error) {
		return client.Acquire(t.Context(), address, client.Timeout(-time.Nanosecond))
	}); !errors.Is(err, client.ErrHeld) {
		t.Errorf("a second try returns %v, want ErrHeld", err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

// TestUsual: what options allow at the least and at the most, the helper allows, too.
func TestUsual(t *testing.T) {
	for _, options := range [][]client.Option{
		{client.Lease(owner.MinLease), client.Tuning{Refresh: owner.BeatsEvery(owner.MinLease)}},
		{client.Lease(owner.MaxLease), client.MaxHold(owner.MaxLease), client.Tuning{Refresh: owner.BeatsEvery(owner.MaxLease), Respite: owner.MaxLease}},
		{client.Tuning{Refresh: time.Second, PollLeast: time.Millisecond, PollMost: time.Millisecond, SlowLeast: time.Hour, SlowMost: 2 * time.Hour}},
		{client.Tuning{Refresh: 15 * time.Second}, client.Retries(1<<31 - 2), client.Timeout(1<<63 - 1)},
		{client.Meta(map[string]string{strings.Repeat("a", 27): "a\nb", "0": ""}), client.Slog(slog.New(slog.DiscardHandler)), client.Tuning{}},
	} {
		address, _ := newLock(t)
		if err := acquire(t, address, options...).Release(); err != nil {
			t.Error(err)
		}
	}
}
