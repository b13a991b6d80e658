package cli

import (
	"errors"
	"slices"
	"strings"
)

// allMeta is what others are told about us, with the reason that --reason gives. That
// goes before a profile's.
func (o *options) allMeta() ([]string, error) {
	if o.reason == "" {
		return o.meta, nil
	}
	const key = "reason="
	isReason := func(m string) bool { return strings.HasPrefix(m, key) }
	if o.given("meta") && slices.ContainsFunc(o.meta, isReason) {
		return nil, usageError{errors.New("--reason and --meta reason=… say the same: leave one")}
	}
	return append(slices.DeleteFunc(slices.Clone(o.meta), isReason), key+o.reason), nil
}
