package client

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"locksmith/client/internal/faking"
	"locksmith/protocol"
)

// An Option changes how a lock is acquired.
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

type config struct {
	locks  []string
	all    bool // And was given
	any    bool // one of the locks will do
	fenced bool // each lock must have a fencing token
	helper []string
	args   []string
	// If given, else 0.
	lease, refresh time.Duration
	log            *slog.Logger // nil: nobody reads what the helper logs
	policy         WaitPolicy
	grace          time.Duration
	pool           *Pool         // nil: a process for this lock
	fake           faking.Helper // for a test; nil: a process
	wrong          error         // the first thing that makes no sense

	waiting func(*HeldError)
	timeout *time.Duration // nil: none
	retries *int           // nil: no limit
}

// configure applies options to what is usual, and says if they make no sense.
func configure(ctx context.Context, p *Pool, address string, options []Option) (config, error) {
	c := config{locks: []string{address}, pool: p, grace: defaultGrace}
	c.require(ctx != nil, "the context is nil")
	for _, o := range options {
		if c.require(o != nil, "an option is nil"); o != nil {
			o.apply(&c)
		}
	}
	c.require(!c.all || !c.any, "And and Or are given, and only one of them can be meant")
	c.require(len(c.locks) <= mostLocks, "there are %d locks, and at most %d go together", len(c.locks), mostLocks)
	c.require(c.policy == nil || c.retries == nil || c.once(), "Retries does not go with Wait, whose policy counts the tries: let it give up")
	if c.refresh != 0 {
		c.checkRefresh()
	}
	for _, lock := range c.locks {
		c.require(withoutMode(lock) != "", "an address is empty")
		c.require(utf8.ValidString(lock) && !strings.ContainsFunc(lock, protocol.Misleads), "the address %q has characters that no address has: see Key", lock)
	}
	if c.wrong != nil {
		return c, fmt.Errorf("%s: acquire: %w: %w", protocol.CleanText(nameOf(c.locks), protocol.MaxLine), ErrUsage, c.wrong)
	}
	c.fake = faking.From(ctx)
	return c, nil
}

// checkRefresh compares with the lease, unless that may be a profile's.
func (c *config) checkRefresh() {
	isProfile := func(lock string) bool { return !strings.Contains(lock, ":") }
	if c.lease == 0 && slices.ContainsFunc(c.locks, isProfile) {
		c.require(c.refresh > 0, "Tuning{Refresh: %v}: no time is below 0", c.refresh)
		return
	}
	most := cmp.Or(c.lease, time.Minute) / 4
	c.require(c.refresh >= min(time.Second, most) && c.refresh <= most, "Tuning{Refresh: %v}: with this lease it is from %v to %v", c.refresh, min(time.Second, most), most)
}

// mostLocks is how many locks a helper takes together.
const mostLocks = 1024

// require says what makes no sense unless something is so.
func (c *config) require(is bool, format string, args ...any) {
	if !is && c.wrong == nil {
		c.wrong = fmt.Errorf(format, args...)
	}
}

// And has the call acquire these locks, too, of any kinds: all or none. One helper takes them, and
// does not wait in a circle with other sets. "shared:" or "exclusive:" before an address is for
// that lock, the option [Shared] for all others. The loss of one is the loss of all. Up to 1,024 locks
// go together; one that comes twice is taken once.
func And(addresses ...string) Option {
	return option(func(c *config) { c.locks, c.all = slices.Concat(c.locks, addresses), true })
}

// Or has the call acquire whichever of its lock and of these is free first. It waits for all of them
// at once, and never holds two. [Lock.Index] tells which it is. A lock that cannot be had is left
// out, unless there is no other.
func Or(addresses ...string) Option {
	return option(func(c *config) {
		if !c.any {
			c.args = append(c.args, "--any")
		}
		c.locks, c.any = slices.Concat(c.locks, addresses), true
	})
}

// Shared asks for a lock that other shared holders may hold too. Without it the lock is
// exclusive.
func Shared() Option { return flag("--shared") }

// Fenced refuses, with a *HelperError of the code usage, a lock that comes without a
// fencing token. Of a set each lock must have one.
func Fenced() Option { return option(func(c *config) { c.fenced = true }) }

// Strict breaks a holder only when it is proven dead, never because it was silent for its lease.
func Strict() Option { return flag("--strict") }

const (
	shortestLease = time.Second
	longestLease  = 366 * 24 * time.Hour // and the longest MaxHold and Respite
)

// Lease sets the time without a heartbeat after which others may break the lock: from 1 s to 366
// days. The default is 60 s.
func Lease(d time.Duration) Option {
	return option(func(c *config) {
		c.require(d >= shortestLease && d <= longestLease, "Lease(%v): a lease is from %v to %v", d, shortestLease, longestLease)
		c.lease = d
		c.flag("--lease", d.String())
	})
}

// MaxHold sets for how long the lock is held at most, by a clock that counts suspension. Then the
// lock is lost, with the code max_hold. Others may have it 10 seconds later, or sooner if it is
// released.
func MaxHold(d time.Duration) Option {
	return option(func(c *config) {
		c.require(d > 0 && d <= longestLease, "MaxHold(%v): a lock can be held for more than nothing, and at most for %v; leave the option out for no limit", d, longestLease)
		c.flag("--max-hold", d.String())
	})
}

// Retries gives up, with ErrHeld, after so many tries after the first. Without it there is no
// limit.
func Retries(n int) Option {
	return option(func(c *config) {
		c.require(n >= 0 && n < math.MaxInt32, "Retries(%d): a number of tries is from 0 to %d", n, math.MaxInt32-1)
		c.retries = &n
	})
}

// Timeout gives up, with ErrHeld, after this time of waiting. 0, or a time that is over, is for one
// try, as [TryAcquire] makes. Without it only the context ends the wait.
func Timeout(d time.Duration) Option {
	d = max(d, 0)
	return option(func(c *config) { c.timeout = &d })
}

// Tuning is an [Option] for who has measured. What is 0 stays as it is.
type Tuning struct {
	// Refresh is the time between two heartbeats, at most: from 1 s (or, if that is less, a quarter of
	// the lease) to a quarter of the lease.
	Refresh time.Duration
	// Respite is how much longer the helper waits, and looks again, before it breaks a dead holder's
	// lock.
	Respite time.Duration
	// A waiter that nothing wakes asks 16 times, with pauses from PollLeast to PollMost at random, 1 ms at
	// least, before each longer pause. Each kind of lock has defaults. See locksmith hold --poll.
	PollLeast, PollMost time.Duration
	// The longer pauses grow from SlowLeast to SlowMost, and then become shorter again. See locksmith
	// hold --slow.
	SlowLeast, SlowMost time.Duration
}

func (t Tuning) apply(c *config) {
	if t.Refresh != 0 {
		c.refresh = t.Refresh
		c.flag("--refresh", t.Refresh.String())
	}
	if t.Respite != 0 {
		c.require(t.Respite > 0 && t.Respite <= longestLease, "Tuning{Respite: %v}: a respite is from 0 to %v", t.Respite, longestLease)
		c.flag("--respite", t.Respite.String())
	}
	c.pauses("Poll", "--poll", t.PollLeast, t.PollMost)
	c.pauses("Slow", "--slow", t.SlowLeast, t.SlowMost)
}

func (c *config) pauses(name, flag string, least, most time.Duration) {
	if least != 0 || most != 0 {
		c.require(least >= time.Millisecond && most >= least, "Tuning{%sLeast: %v, %sMost: %v}: give both, the lesser one first, and 1ms at least", name, least, name, most)
		c.flag(flag, least.String()+".."+most.String())
	}
}

// Meta sets metadata of the holder for others to see. Keys are 1 to 27 of the characters a-z 0-9
// - _ .
func Meta(meta map[string]string) Option {
	return option(func(c *config) {
		var args []string
		for k, v := range meta {
			c.require(k != "" && protocol.ValidKey("meta."+k), "Meta: the key %.40q is not 1 to 27 of a-z 0-9 _ . -", k)
			c.require(!strings.Contains(v, "\x00"), "Meta: the value of %.40q has a zero byte", k)
			args = append(args, fmt.Sprintf("--meta=%s=%s", k, v))
		}
		slices.Sort(args)
		c.flag(args...)
	})
}

// Helper sets the program to start, and arguments that go before "hold". It must run where this
// process has the same pid: on this machine, and in this container.
func Helper(command ...string) Option {
	return option(func(c *config) {
		c.require(len(command) > 0 && command[0] != "", "Helper: it names no program")
		c.require(!strings.Contains(strings.Join(command, ""), "\x00"), "Helper: the command %q has a zero byte", command)
		c.helper = command
	})
}

// Slog gets the helper's log messages, from the logger's own level on. Trace has the level Debug-4.
// Without a logger they are dropped: the helper does not write to this program's standard error. What
// matters is in the errors. Other logging packages have a slog.Handler, or need ten lines for one: see the
// example.
func Slog(l *slog.Logger) Option {
	return option(func(c *config) {
		c.require(l != nil, "Slog: the logger is nil")
		c.log = l
	})
}

// Wait sets the wait policy. Without one the helper waits for as long as the call allows.
func Wait(p WaitPolicy) Option {
	return option(func(c *config) {
		c.require(p != nil, "Wait: the policy is nil")
		c.policy = p
	})
}

// Waiting has f called with the holder of the lock, when the wait for it begins and when another
// holder is seen. The call goes on when f returns, which should be soon.
func Waiting(f func(held *HeldError)) Option {
	return option(func(c *config) {
		c.require(f != nil, "Waiting: the function is nil")
		c.waiting = f
	})
}

// KillAfter sets how long the helper has to end by itself once it was told to. 0 or less means
// 15 s, as without the option. The helper needs that time to remove the lock, or to say that it
// cannot.
func KillAfter(d time.Duration) Option {
	return option(func(c *config) {
		if c.grace = d; d <= 0 {
			c.grace = defaultGrace
		}
	})
}

// once reports whether there shall be one try and no wait.
func (c *config) once() bool { return c.timeout != nil && *c.timeout == 0 }

// waitFlags are the flags that tell the helper for how long to wait.
func (c *config) waitFlags() (args []string) {
	switch {
	case c.once():
		return []string{"--timeout", "0"}
	case c.timeout != nil:
		args = append(args, "--timeout", c.timeout.String())
	}
	if c.asks() {
		args = append(args, "--ask")
	}
	if c.retries != nil {
		args = append(args, "--retries", strconv.Itoa(*c.retries))
	}
	return args
}

func (c *config) flag(args ...string) { c.args = append(c.args, args...) }

func flag(args ...string) Option { return option(func(c *config) { c.flag(args...) }) }
