package cli

import (
	"fmt"
	"io"
	"os"
	"os/user"
	"strconv"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/cmd/locksmith/cli/term"
	"locksmith/locksmith"
	"locksmith/protocol"
)

const (
	defaultLease = time.Minute
	// maxStatus is the greatest exit status that there is.
	maxStatus = 255
)

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
	release   seconds
	poll      pauses
	slow      pauses
	retries   count
	meta      []string
	reason    string
	conflict  bounded
	events    eventsTo
	logLevel  string
	logFormat string
}

func (o *options) flags(c *cobra.Command) {
	o.timeout, o.lease, o.release, o.retries = seconds(locksmith.Forever), seconds(defaultLease), seconds(locksmith.ReleaseTimeout), unlimited
	o.conflict = bounded{most: maxStatus}
	o.reach.flags(c)
	o.guarded.flags(c)
	f := c.Flags()
	f.BoolVar(&o.shared, "shared", false, "share the lock with other shared holders")
	f.Var(&o.timeout, "timeout", "give up after this time (0: try once; default: wait)")
	f.Var(&o.retries, "retries", "give up after so many tries after the first (default: no limit)")
	f.Var(&o.poll, "poll", "ask so often while waiting, 16 times, as in 25ms..100ms (default: as is usual for the kind of lock)")
	f.Var(&o.slow, "slow", "and then pause for so long, as in 2s..32s: for longer each time, then for shorter, and so on")
	f.Var(&o.lease, "lease", "how long others believe in us when we are silent (link: 1h)")
	f.Var(&o.refresh, "refresh", "how often to tell others that we live (default: a quarter of the lease; link: 8s)")
	f.Var(&o.release, "release-timeout", "how long to try to release the lock where that fails, within the lease (0: try once)")
	f.BoolVar(&o.strict, "strict", false, "break a holder only when it is proven dead, never by its lease")
	f.Var(&o.respite, "respite", "wait this much more before breaking a dead holder's lock, and look again (link: 30m for one that is only old)")
	f.StringArrayVar(&o.meta, "meta", nil, "tell others `key=value` about us (repeatable)")
	f.StringVar(&o.reason, "reason", "", "tell others why: the same as --meta 'reason=`text`'")
	f.VarP(&o.conflict, "conflict-exit-code", "E", "exit `status` when the lock is held or the time is over (default 75)")
	f.Var(&o.events, "events", "append what happens to this file, as lines of JSON, or to descriptor N: fd:N (see also timeline)")
	f.StringVar(&o.logLevel, "log-level", "warn", "trace, debug, info, warn, error or off")
	f.StringVar(&o.logFormat, "log-format", "text", "text or json")
}

func (o *options) logger(out io.Writer) (hclog.Logger, error) {
	level := hclog.LevelFromString(o.logLevel)
	if level == hclog.NoLevel {
		return nil, usageError{fmt.Errorf("--log-level %q is not known", o.logLevel)}
	}
	if o.logFormat != "text" && o.logFormat != "json" {
		return nil, usageError{fmt.Errorf("--log-format %q is not text or json", o.logFormat)}
	}
	return hclog.New(&hclog.LoggerOptions{
		Name: "locksmith", Level: level, Output: term.Escaper{Out: out}, JSONFormat: o.logFormat == "json",
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
	if (code == protocol.Held || code == protocol.Timeout) && o.conflict.given {
		return int(o.conflict.value)
	}
	return exitStatus(err)
}

func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
}
