package request

import (
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"

	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/protocol"
)

// Self is the record of this process.
func Self(lease time.Duration) owner.Record {
	self, err := process.Find(os.Getpid())
	return owner.Record{
		Place: owner.Here(), Helper: self, NoProof: err != nil,
		User: UserName(), Mode: exclusiveMode, Lease: lease,
	}
}

// UserName is who we are, as records say.
func UserName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
}

// record is what others are told about us.
func (o *Options) record() (r owner.Record, err error) {
	r = Self(o.lease)
	r.MaxHold = max(o.maxHold, 0)
	if o.shared {
		r.Mode = sharedMode
	}
	r.Meta, err = o.metadata()
	return r, err
}

// metadata is what --meta or a profile, and --reason, say about us.
func (o *Options) metadata() ([]protocol.Field, error) {
	given, err := o.allMeta()
	if err != nil {
		return nil, err
	}
	var all []protocol.Field
	for _, m := range given {
		key, value, ok := strings.Cut(m, "=")
		if !ok {
			return nil, flags.Usagef("--meta %.40q is not key=value", m)
		}
		if err := owner.CheckMeta(key); err != nil {
			return nil, flags.Usage(err)
		}
		if slices.ContainsFunc(all, func(f protocol.Field) bool { return f.Key == key }) {
			return nil, flags.Usagef("--meta gives %s twice", key)
		}
		all = append(all, protocol.Field{Key: key, Value: value})
	}
	return all, nil
}

// checkRoom refuses metadata that makes a record too long, before anything is made for the lock.
func checkRoom(r owner.Record) error {
	if len(r.Meta) == 0 { // all else in a record is short
		return nil
	}
	r.ID, r.Parent = owner.NewID(), r.Helper // about the longest that there will be
	if _, err := r.Format(); err != nil {
		return fmt.Errorf("metadata does not fit into the lock's record: %w", err)
	}
	return nil
}

// allMeta is what others are told about us, with the reason that --reason gives. --reason
// overrides a profile's.
func (o *Options) allMeta() ([]string, error) {
	if o.reason == "" {
		return o.meta, nil
	}
	const key = "reason="
	isReason := func(m string) bool { return strings.HasPrefix(m, key) }
	if o.given("meta") && slices.ContainsFunc(o.meta, isReason) {
		return nil, flags.Usagef("--reason and --meta reason=… say the same: leave one")
	}
	return append(slices.DeleteFunc(slices.Clone(o.meta), isReason), key+o.reason), nil
}
