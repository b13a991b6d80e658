package cli

import (
	"fmt"
	"slices"
	"strings"

	"locksmith/backends/owner"
	"locksmith/protocol"
)

// metadata is what --meta or a profile, and --reason, say about us.
func (o *options) metadata() ([]protocol.Field, error) {
	given, err := o.allMeta()
	if err != nil {
		return nil, err
	}
	var all []protocol.Field
	for _, m := range given {
		key, value, ok := strings.Cut(m, "=")
		if !ok {
			return nil, usageError{fmt.Errorf("--meta %.40q is not key=value", m)}
		}
		if err := owner.CheckMeta(key); err != nil {
			return nil, usageError{err}
		}
		if slices.ContainsFunc(all, func(f protocol.Field) bool { return f.Key == key }) {
			return nil, usageError{fmt.Errorf("--meta gives %s twice", key)}
		}
		all = append(all, protocol.Field{Key: key, Value: value})
	}
	return all, nil
}

// checkRoom refuses metadata that makes a record too long, before anything is made for
// the lock.
func checkRoom(r owner.Record) error {
	if len(r.Meta) == 0 { // what else a record says is short
		return nil
	}
	r.ID, r.Parent = owner.NewID(), r.Helper // the longest that there will be, about
	if _, err := r.Format(); err != nil {
		return fmt.Errorf("metadata does not fit into the lock's record: %w", err)
	}
	return nil
}
