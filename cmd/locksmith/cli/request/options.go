package request

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"locksmith/backends/backoff"
	"locksmith/backends/owner"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/cli/term"
	"locksmith/locksmith"
)

// maxStatus is the greatest exit status.
const maxStatus = 255

// Options are the flags of commands that hold locks. A command calls Add, and then NewHelper.
type Options struct {
	Named
	Conflict  flags.Number // the exit status if the lock is held; Given if there is one
	Events    flags.Events
	Quiet     bool // say nothing of waiting, nor that the lock is held
	shared    bool
	any       bool
	strict    bool
	timeout   time.Duration
	lease     time.Duration
	grace     time.Duration // --respite
	refresh   time.Duration
	maxHold   time.Duration
	release   time.Duration
	poll      backoff.Range
	slow      backoff.Range
	retries   int
	meta      []string
	reason    string
	logLevel  string
	logFormat string
}

// Add declares the flags.
func (o *Options) Add(c *cobra.Command, p Program) {
	o.timeout, o.lease, o.release, o.retries = locksmith.Forever, owner.UsualLease, locksmith.ReleaseTimeout, flags.Unlimited
	o.maxHold = locksmith.Forever
	o.Conflict = flags.Number{Most: maxStatus}
	o.Named.Add(c, p)
	f := c.Flags()
	f.BoolVarP(&o.shared, "shared", "s", false, "share the lock with other shared holders")
	flags.AddAlias(f, "exclusive", "x", "shared", "false", "do not share the lock (the default)")
	f.BoolVar(&o.any, "any", false, "take one of several locks, whichever is free first")
	f.VarP(flags.Duration(&o.timeout), "timeout", "w", "give up after this time (0: try once; default: wait)")
	flags.AddAlias(f, "nonblock", "n", "timeout", "0", "try once: the same as --timeout 0")
	f.Var(flags.Count(&o.retries), "retries", "give up after so many tries after the first (default: no limit)")
	f.Var(flags.Range(&o.poll), "poll", "while waiting pause for so long between two tries, 16 times, as in 25ms..100ms (default: as is usual for the kind of lock)")
	f.Var(flags.Range(&o.slow), "slow", "after those 16 pause for so long, as in 2s..32s: longer each time, then shorter, and so on")
	f.Var(flags.Duration(&o.lease), "lease", "time without a heartbeat after which others may break the lock (link: 1h)")
	f.Var(flags.Duration(&o.refresh), "refresh", "time between two heartbeats (default: a quarter of the lease; link: 8s)")
	f.Var(flags.Duration(&o.maxHold), "max-hold", "hold the lock for so long at most, as in 2h (default: no limit)")
	f.Var(flags.Duration(&o.release), "release-timeout", "if the release fails, try again for so long, within the lease (0: try once)")
	f.BoolVar(&o.strict, "strict", false, "break a holder only when it is proven dead, never by its lease")
	f.Var(flags.Duration(&o.grace), "respite", "after a holder was found dead, wait for so long, and look again before breaking its lock (link: 30m for a lock that is only old)")
	f.StringArrayVar(&o.meta, "meta", nil, "tell others `key=value` about us (repeatable)")
	f.StringVar(&o.reason, "reason", "", "tell others why: the same as --meta 'reason=`text`'")
	f.VarP(&o.Conflict, "conflict-exit-code", "E", "exit `status` when the lock is held or the time is over, unless nothing is going to free it (default 75)")
	f.Var(&o.Events, "events", "append what happens to this file, as lines of JSON, or to descriptor N: fd:N (see also timeline)")
	f.BoolVarP(&o.Quiet, "quiet", "q", false, "do not say that the lock is held, nor that we wait, unless nothing is going to free it")
	f.StringVar(&o.logLevel, "log-level", "warn", "trace, debug, info, warn, error or off (with error and off waiting is not told)")
	f.StringVar(&o.logFormat, "log-format", "text", "text or json")
	flags.Group(c, flags.Rarely, "poll slow refresh release-timeout strict respite log-level log-format")
}

// LogAs makes the log that of other options.
func (o *Options) LogAs(other *Options) { o.logLevel, o.logFormat = other.logLevel, other.logFormat }

// Logger is the log that the flags ask for.
func (o *Options) Logger(out io.Writer) (hclog.Logger, error) {
	level := hclog.LevelFromString(o.logLevel)
	if level == hclog.NoLevel {
		return nil, flags.Usagef("--log-level %q is not known", o.logLevel)
	}
	if o.logFormat != "text" && o.logFormat != "json" {
		return nil, flags.Usagef("--log-format %q is not text or json", o.logFormat)
	}
	return hclog.New(&hclog.LoggerOptions{
		Name: "locksmith", Level: level, Output: term.Escaper{Out: out}, JSONFormat: o.logFormat == "json",
	}), nil
}

// LogsJSON reports whether programs read the log.
func (o *Options) LogsJSON() bool { return o.logFormat == "json" }

// check refuses values out of bounds. Its errors begin with the flag's name.
func (o *Options) check() error {
	if !owner.IsLease(o.lease) {
		return fmt.Errorf("lease %v is not between %v and %v", o.lease, owner.MinLease, owner.MaxLease)
	}
	if o.grace > owner.MaxLease {
		return fmt.Errorf("respite %v is more than %v", o.grace, owner.MaxLease)
	}
	switch {
	case o.maxHold == 0:
		return errors.New("max-hold is no time at all: leave it out to hold without a limit")
	case o.maxHold > owner.MaxLease:
		return fmt.Errorf("max-hold %v is more than %v", o.maxHold, owner.MaxLease)
	}
	return nil
}

// shortestRefresh is the shortest pause between two heartbeats, if the lease allows that.
const shortestRefresh = time.Second

// checkRefresh refuses a refresh that does not go with the lease.
func (o *Options) checkRefresh() error {
	switch {
	case o.refresh > owner.BeatsEvery(o.lease):
		return fmt.Errorf("refresh %v is more than a quarter of the lease of %v", o.refresh, o.lease)
	case o.refresh > 0 && o.refresh < min(shortestRefresh, owner.BeatsEvery(o.lease)):
		return fmt.Errorf("refresh %v is less than a second", o.refresh)
	}
	return nil
}
