package request

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/backend"
	"locksmith/backends/backoff"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/memory"
	"locksmith/cmd/locksmith/profile"
	"locksmith/locksmith"
	"locksmith/protocol"
)

// targets finds the locks that the arguments name, each of which may have its mode as a prefix.
func (o *Options) targets(args []string) ([]*Target, error) {
	locks, err := o.Locks(args)
	if err != nil {
		return nil, err
	}
	var targets []*Target
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

// NewHelper makes a helper for the locks that the arguments name, without its client, and tells
// where it found each. What a lock's profile says counts for that lock where no flag does. The
// helper logs to out.
func (o *Options) NewHelper(args []string, out io.Writer) (*locksmith.Helper, []*Target, error) {
	targets, err := o.targets(args)
	if err != nil {
		return nil, nil, err
	}
	h, err := o.forAll(targets, out)
	return h, targets, err
}

// forAll makes one helper for all of these locks.
func (o *Options) forAll(targets []*Target, out io.Writer) (*locksmith.Helper, error) {
	if err := o.check(); err != nil {
		return nil, flags.Usagef("--%w", err)
	}
	log, err := o.Logger(out)
	if err != nil {
		return nil, err
	}
	var helpers []*locksmith.Helper
	for _, t := range targets {
		h, err := o.forOne(t, log)
		if err != nil {
			return nil, err
		}
		helpers = append(helpers, h)
	}
	if err := o.checkLeases(targets, helpers); err != nil {
		return nil, err
	}
	h := helpers[0]
	if len(helpers) > 1 {
		o.share(targets, helpers)
		if h, err = forSet(o.program.Kinds, helpers, o.any); err != nil {
			return nil, err
		}
	}
	h.Log = log
	return h, nil
}

// share gives locks of a set whose profiles say nothing of a lease that of the others, so that it does
// not end at what is usual.
func (o *Options) share(targets []*Target, helpers []*locksmith.Helper) {
	var said []time.Duration
	for _, t := range targets {
		if t.Lease != nil {
			said = append(said, *t.Lease)
		}
	}
	for i, h := range helpers {
		if len(said) > 0 && targets[i].Lease == nil && !o.given("lease") {
			h.Request.Owner.Lease = slices.Min(said)
		}
	}
}

// forOne makes the helper of one lock. It leaves o as it is, because a profile is for its lock
// alone.
func (o Options) forOne(t *Target, log hclog.Logger) (*locksmith.Helper, error) {
	o.fill(t)
	if err := o.check(); err != nil {
		return nil, t.Wrong(err)
	}
	b, canonical, err := t.open(o.program.Kinds.Open)
	if err != nil {
		return nil, err
	}
	if err := o.Events.Apart(canonical); err != nil {
		return nil, err
	}
	o.adapt(t.Profile, canonical)
	if err := o.checkRefresh(); err != nil {
		return nil, t.blame(t.Refresh != nil && !o.given("refresh"), err, "--%w")
	}
	record, err := o.record()
	if err != nil {
		return nil, err
	}
	if err := checkRoom(record); err != nil {
		return nil, t.blame(t.Meta != nil && !o.given("meta") && o.reason == "", err, "%w; shorten the metadata")
	}
	request := backend.Request{Owner: record, Strict: o.strict, Grace: o.grace, Polls: o.polls(), Clock: clock.Boot{}}
	if t.Shared != nil && o.shared && t.mode == "" && !o.given("shared") {
		if err := mayShare(b, request); err != nil {
			return nil, t.Wrong(err)
		}
	}
	h := &locksmith.Helper{
		Address: canonical,
		Locker:  b,
		Request: request,
		Timeout: o.timeout,
		Tries:   o.retries + 1,
		Refresh: o.refresh,

		ReleaseTimeout: o.release,
		KnownToken:     memory.Token,
	}
	if m := memory.Of(canonical, func(err error) { log.Debug(err.Error(), "lock", canonical) }); m != nil {
		h.Request.Memory, h.Remember = m, m.Save
	}
	return h, nil
}

// blame is the error of the profile, if it is that which is wrong, or of the command line.
func (t *Target) blame(profile bool, err error, usage string) error {
	if profile {
		return t.Wrong(err)
	}
	return flags.Usagef(usage, err)
}

// checkLeases refuses what flags say of leases if no lock has one, and what the profile of a
// lock without a lease says of leases.
func (o *Options) checkLeases(targets []*Target, helpers []*locksmith.Helper) error {
	leaseless := 0
	for i, h := range helpers {
		if !o.program.Kinds.Leaseless(h.Address) {
			continue
		}
		leaseless++
		if p := targets[i].Profile; p.Lease != nil || p.Strict != nil || p.Grace != nil {
			return targets[i].Wrong(errors.New("lease, strict and respite say nothing to a lock of flock:, which the kernel frees when its holder ends"))
		}
	}
	for _, flag := range []string{"lease", "strict", "respite"} {
		if leaseless == len(helpers) && o.given(flag) {
			return flags.Usagef("--%s says nothing to %s: the kernel frees that lock when its holder ends; leave it out", flag, helpers[0].Address)
		}
	}
	return nil
}

// mayShare refuses what a lock would refuse with advice about a flag that nobody gave. It makes
// an attempt that is never tried, which changes nothing.
func mayShare(b backend.Backend, r backend.Request) error {
	_, err := b.Attempt(r)
	if e, ok := errors.AsType[*backend.Error](err); ok && e.Code == protocol.Usage {
		return fmt.Errorf("shared = true: %w", e.Err)
	}
	return nil
}

// adapt takes the times that are usual for a kind of lock where nobody says otherwise.
func (o *Options) adapt(p *profile.Profile, lock string) {
	usual, ok := o.program.Kinds.Timing(lock)
	if !ok {
		return
	}
	if !o.given("lease") && p.Lease == nil {
		o.lease = usual.Lease
	}
	if !o.given("refresh") && p.Refresh == nil {
		o.refresh = min(usual.Refresh, owner.BeatsEvery(o.lease))
	}
}

// polls is how often to ask, or nil if nobody says so.
func (o *Options) polls() *backoff.Config {
	if o.poll == (backoff.Range{}) && o.slow == (backoff.Range{}) {
		return nil
	}
	return &backoff.Config{Poll: o.poll, Slow: o.slow}
}

// fill takes from a profile what no flag says, and the mode from the lock's prefix.
func (o *Options) fill(t *Target) {
	p := t.Profile
	fill(o, "shared", &o.shared, p.Shared)
	fill(o, "strict", &o.strict, p.Strict)
	fill(o, "timeout", &o.timeout, p.Timeout)
	fill(o, "lease", &o.lease, p.Lease)
	fill(o, "respite", &o.grace, p.Grace)
	fill(o, "refresh", &o.refresh, p.Refresh)
	fill(o, "max-hold", &o.maxHold, p.MaxHold)
	fill(o, "poll", &o.poll, p.Poll)
	fill(o, "slow", &o.slow, p.Slow)
	fill(o, "retries", &o.retries, p.Retries)
	fill(o, "meta", &o.meta, &p.Meta)
	if t.mode != "" {
		o.shared = t.mode == sharedMode
	}
}

func fill[T any](o *Options, flag string, to, from *T) {
	if from != nil && !o.given(flag) {
		*to = *from
	}
}
