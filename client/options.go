package client

import (
	"fmt"
	"log/slog"
	"sort"
	"strconv"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/client/internal/faking"
)

// An Option changes how a lock is acquired.
type Option func(*config)

type config struct {
	locks  []string
	any    bool // one of the locks will do
	fenced bool // each lock must have a fencing token
	helper []string
	args   []string
	log    logSink // nil: nobody reads what the helper logs
	policy WaitPolicy
	grace  time.Duration
	pool   *Pool         // nil: a process for this lock
	fake   faking.Helper // for a test; nil: a process

	waiting func(*HeldError)
	timeout *time.Duration // nil: none
	retries *int           // nil: no limit
}

// Shared asks for a lock that other shared holders may hold too. Without it the lock is
// exclusive.
func Shared() Option { return flag("--shared") }

// Fenced refuses, with a *HelperError of the code usage, a lock that comes without a
// fencing token. Of a set each lock must have one.
func Fenced() Option { return func(c *config) { c.fenced = true } }

// Strict breaks a holder only when it is proven dead, never because it was silent for its lease.
func Strict() Option { return flag("--strict") }

// Lease sets the time without a heartbeat after which others may break the lock. The
// default is that of locksmith hold --lease.
func Lease(d time.Duration) Option { return flag("--lease", d.String()) }

// Refresh sets the time between two heartbeats of the helper: at most, and by default, a quarter
// of the lease. See locksmith hold --refresh.
func Refresh(d time.Duration) Option { return flag("--refresh", d.String()) }

// MaxHold sets for how long the lock is held at most, by a clock that counts suspension. Then the
// lock is lost, with the code max_hold. Others may have it 10 seconds later, or sooner if it is
// released.
func MaxHold(d time.Duration) Option { return flag("--max-hold", d.String()) }

// Retries gives up, with ErrHeld, after so many tries after the first. Without it there is no
// limit.
func Retries(n int) Option { return func(c *config) { c.retries = &n } }

// Timeout gives up, with ErrHeld, after this time of waiting; 0 is for one try, as TryAcquire
// makes. Without it only the context of Acquire ends the wait.
func Timeout(d time.Duration) Option { return func(c *config) { c.timeout = &d } }

// Respite has the helper wait this much longer, and look again, before it breaks a dead holder's
// lock.
func Respite(d time.Duration) Option { return flag("--respite", d.String()) }

// Poll sets how often a helper asks while it waits, if nothing wakes it: 16 times, with pauses
// between least and most at random, before each pause of Slow. Each kind of lock has a default.
// See locksmith hold --poll.
func Poll(least, most time.Duration) Option { return flag("--poll", between(least, most)) }

// Slow sets the pauses after those of Poll. The first is least, each next one is longer, up to
// most, and then shorter again. See locksmith hold --slow.
func Slow(least, most time.Duration) Option { return flag("--slow", between(least, most)) }

func between(least, most time.Duration) string { return least.String() + ".." + most.String() }

// Meta sets metadata of the holder for others to see. Keys are 1 to 27 of the characters a-z 0-9
// - _ .
func Meta(meta map[string]string) Option {
	var args []string
	for k, v := range meta {
		args = append(args, fmt.Sprintf("--meta=%s=%s", k, v))
	}
	sort.Strings(args)
	return flag(args...)
}

// Helper sets the program to start, and arguments that go before "hold". It must run where this
// process has the same pid: on this machine, and in this container. With the option Waiting, or
// a WaitPolicy that leaves the waiting to the helper, it must not close descriptors that it
// inherits, as sudo does.
func Helper(command ...string) Option {
	return func(c *config) { c.helper = command }
}

// Logger gets the helper's log messages, from its own level on. Without a logger they go
// nowhere, for the standard error of this process is its own. What matters is in the errors.
func Logger(l hclog.Logger) Option {
	return func(c *config) { c.log = hcSink{l} }
}

// Slog is Logger for a logger of the standard library. Trace has the level Debug-4.
func Slog(l *slog.Logger) Option {
	return func(c *config) { c.log = slogSink{l} }
}

// Wait sets the wait policy. Without one the helper waits for as long as Acquire allows.
func Wait(p WaitPolicy) Option {
	return func(c *config) { c.policy = p }
}

// Waiting has f called with the holder of the lock, when the wait for it begins and when another
// holder is seen. Acquire goes on when f returns, which should be soon. The times in held.Holder
// may be zero, which means unknown.
func Waiting(f func(held *HeldError)) Option {
	return func(c *config) { c.waiting = f }
}

// KillAfter sets how long the helper has to end by itself once it was told to. 0 or less means
// 15 s, as without the option. The helper needs that time to remove the lock, or to say that it
// cannot.
func KillAfter(d time.Duration) Option {
	return func(c *config) {
		if c.grace = d; d <= 0 {
			c.grace = defaultGrace
		}
	}
}

// once reports whether there shall be one try and no wait.
func (c *config) once() bool { return c.timeout != nil && *c.timeout == 0 }

// oneTry are the flags of a helper that does not wait.
func oneTry() []string { return []string{"--timeout", "0"} }

// waitFlags are the flags that tell the helper for how long to wait.
func (c *config) waitFlags() (args []string) {
	switch {
	case c.once():
		return oneTry()
	case c.timeout != nil:
		args = append(args, "--timeout", c.timeout.String())
	}
	if c.retries != nil {
		args = append(args, "--retries", strconv.Itoa(*c.retries))
	}
	return args
}

func flag(args ...string) Option {
	return func(c *config) { c.args = append(c.args, args...) }
}
