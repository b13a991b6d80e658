package cli

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/manners"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/cmd/locksmith/profile"
	"locksmith/locksmith"
	"locksmith/protocol"
)

const defaultLease = time.Minute

// options are what hold and run have in common.
type options struct {
	reach
	guarded
	shared    bool
	strict    bool
	timeout   seconds
	lease     seconds
	respite   seconds
	refresh   seconds
	poll      pauses
	slow      pauses
	retries   count
	meta      []string
	reason    string
	conflict  int
	events    eventsTo
	logLevel  string
	logFormat string
}

func (o *options) flags(c *cobra.Command) {
	o.timeout, o.lease, o.retries = seconds(locksmith.Forever), seconds(defaultLease), unlimited
	o.reach.flags(c)
	o.guarded.flags(c)
	f := c.Flags()
	f.BoolVar(&o.shared, "shared", false, "share the lock with other shared holders")
	f.Var(&o.timeout, "timeout", "give up after this time (0: try once; default: wait)")
	f.Var(&o.retries, "retries", "give up after so many tries after the first (default: no limit)")
	f.Var(&o.poll, "poll", "ask so often while waiting, 16 times, as in 25ms..100ms (default: as is usual for the kind of lock)")
	f.Var(&o.slow, "slow", "and then pause for so long, as in 2s..32s: for longer each time")
	f.Var(&o.lease, "lease", "how long others believe in us when we are silent (link: 1h)")
	f.Var(&o.refresh, "refresh", "how often to tell others that we live (default: a quarter of the lease; link: 8s)")
	f.BoolVar(&o.strict, "strict", false, "break a holder only when it is proven dead, never by its lease")
	f.Var(&o.respite, "respite", "wait this much more before breaking a dead holder's lock, and look again (link: 30m for one that is only old)")
	f.StringArrayVar(&o.meta, "meta", nil, "tell others `key=value` about us (repeatable)")
	f.StringVar(&o.reason, "reason", "", "tell others why: the same as --meta 'reason=`text`'")
	f.IntVarP(&o.conflict, "conflict-exit-code", "E", 0, "exit `status` when the lock is held or the time is over (default 75)")
	f.Var(&o.events, "events", "append what happens to this file, as lines of JSON, or to descriptor N: fd:N (see also timeline)")
	f.StringVar(&o.logLevel, "log-level", "warn", "trace, debug, info, warn, error or off")
	f.StringVar(&o.logFormat, "log-format", "text", "text or json")
}

func (o *options) logger() (hclog.Logger, error) {
	level := hclog.LevelFromString(o.logLevel)
	if level == hclog.NoLevel {
		return nil, usageError{fmt.Errorf("--log-level %q is not known", o.logLevel)}
	}
	if o.logFormat != "text" && o.logFormat != "json" {
		return nil, usageError{fmt.Errorf("--log-format %q is not text or json", o.logFormat)}
	}
	return hclog.New(&hclog.LoggerOptions{
		Name: "locksmith", Level: level, Output: escaper{os.Stderr}, JSONFormat: o.logFormat == "json",
	}), nil
}

// targets finds the locks that the arguments name, each of which may have its mode as a
// prefix.
func (o *options) targets(args []string) ([]*target, error) {
	locks, err := o.locks(args)
	if err != nil {
		return nil, err
	}
	var targets []*target
	for _, lock := range locks {
		mode, lock := cutMode(lock)
		t, err := o.find(lock)
		if err != nil {
			return nil, err
		}
		t.mode = mode
		targets = append(targets, t)
	}
	return targets, nil
}

// helper makes a helper for these locks, without its guard. What a lock's profile says
// counts for it where no flag does.
func (o *options) helper(targets []*target) (*locksmith.Helper, error) {
	if err := o.check(); err != nil {
		return nil, usageError{fmt.Errorf("--%w", err)}
	}
	if o.conflict < 0 || o.conflict > 255 {
		return nil, usageError{fmt.Errorf("-E %d is not an exit status", o.conflict)}
	}
	log, err := o.logger()
	if err != nil {
		return nil, err
	}
	var helpers []*locksmith.Helper
	for _, t := range targets {
		h, err := o.forOne(t)
		if err != nil {
			return nil, err
		}
		helpers = append(helpers, h)
	}
	h := helpers[0]
	if len(helpers) > 1 {
		if h, err = forSet(helpers); err != nil {
			return nil, err
		}
	}
	h.Log = log
	return h, nil
}

// forOne makes the helper of one lock. It leaves o as it is: what a profile says is for
// its lock alone.
func (o options) forOne(t *target) (*locksmith.Helper, error) {
	o.fill(t)
	if err := o.check(); err != nil {
		return nil, t.Wrong(err)
	}
	b, canonical, err := t.open()
	if err != nil {
		return nil, err
	}
	o.adapt(t.Profile, b)
	if err := o.checkRefresh(); err != nil && t.Refresh != nil && !o.given("refresh") {
		return nil, t.Wrong(err)
	} else if err != nil {
		return nil, usageError{fmt.Errorf("--%w", err)}
	}
	record, err := o.record()
	if err != nil {
		return nil, err
	}
	if err := checkRoom(record); err != nil && t.Meta != nil && !o.given("meta") && o.reason == "" {
		return nil, t.Wrong(err)
	} else if err != nil {
		return nil, usageError{fmt.Errorf("%w; shorten the metadata", err)}
	}
	return &locksmith.Helper{
		Address: canonical,
		Locker:  b,
		Request: backend.Request{Owner: record, Strict: o.strict, Respite: time.Duration(o.respite), Polls: o.polls(), Clock: clock.Boot{}},
		Timeout: time.Duration(o.timeout),
		Tries:   int(o.retries) + 1,
		Refresh: time.Duration(o.refresh),
	}, nil
}

// adapt takes from the manners of a kind of lock what nobody says otherwise.
func (o *options) adapt(p *profile.Profile, b backend.Backend) {
	paced, ok := b.(backend.Paced)
	if !ok {
		return
	}
	usual := paced.Manners()
	if !o.given("lease") && p.Lease == nil {
		o.lease = seconds(usual.Lease)
	}
	if !o.given("refresh") && p.Refresh == nil {
		o.refresh = seconds(min(usual.Refresh, time.Duration(o.lease)/4))
	}
}

// polls is how often to ask, or nil if nobody says so.
func (o *options) polls() *manners.Config {
	if o.poll == (pauses{}) && o.slow == (pauses{}) {
		return nil
	}
	return &manners.Config{Poll: manners.Range(o.poll), Slow: manners.Range(o.slow)}
}

// fill takes from a profile what no flag says, and the mode from the lock's prefix.
func (o *options) fill(t *target) {
	p := t.Profile
	fill(o, "shared", &o.shared, p.Shared)
	fill(o, "strict", &o.strict, p.Strict)
	fill(o, "timeout", &o.timeout, (*seconds)(p.Timeout))
	fill(o, "lease", &o.lease, (*seconds)(p.Lease))
	fill(o, "respite", &o.respite, (*seconds)(p.Respite))
	fill(o, "refresh", &o.refresh, (*seconds)(p.Refresh))
	fill(o, "poll", &o.poll, (*pauses)(p.Poll))
	fill(o, "slow", &o.slow, (*pauses)(p.Slow))
	fill(o, "retries", &o.retries, (*count)(p.Retries))
	fill(o, "meta", &o.meta, &p.Meta)
	if t.mode != "" {
		o.shared = t.mode == sharedMode
	}
}

func fill[T any](o *options, flag string, to, from *T) {
	if from != nil && !o.given(flag) {
		*to = *from
	}
}

// check refuses values out of bounds. Its errors begin with the flag's name.
func (o *options) check() error {
	if l := time.Duration(o.lease); l < owner.MinLease || l > owner.MaxLease {
		return fmt.Errorf("lease %v is not between %v and %v", l, owner.MinLease, owner.MaxLease)
	}
	if r := time.Duration(o.respite); r > owner.MaxLease {
		return fmt.Errorf("respite %v is more than %v", r, owner.MaxLease)
	}
	return nil
}

// shortestRefresh is how often a place is asked at most, if the lease allows that.
const shortestRefresh = seconds(time.Second)

// checkRefresh refuses a refresh that does not go with the lease.
func (o *options) checkRefresh() error {
	switch {
	case o.refresh > o.lease/4:
		return fmt.Errorf("refresh %v is more than a quarter of the lease of %v", &o.refresh, &o.lease)
	case o.refresh > 0 && o.refresh < min(shortestRefresh, o.lease/4):
		return fmt.Errorf("refresh %v is less than a second", &o.refresh)
	}
	return nil
}

func (o *options) record() (owner.Record, error) {
	self, err := process.Find(os.Getpid())
	r := owner.Record{
		Place: owner.Here(), Helper: self, NoProof: err != nil,
		User: userName(), Mode: "exclusive", Lease: time.Duration(o.lease),
	}
	if o.shared {
		r.Mode = "shared"
	}
	r.Meta, err = o.metadata()
	return r, err
}

// status maps an error to the exit status, with -E in mind.
func (o *options) status(err error) int {
	code := codeOf(err)
	if (code == protocol.Held || code == protocol.Timeout) && o.conflict != 0 {
		return o.conflict
	}
	return exitStatus(err)
}

func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
}
