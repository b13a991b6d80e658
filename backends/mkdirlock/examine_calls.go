package mkdirlock

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"locksmith/backends/backend"
)

// said sorts the outcome of a call: it happened; it did not, for a reason that is
// a finding; or the place does not answer.
func (x *examiner) said(op string, err error) (happened bool, fatal error) {
	var known *backend.Error
	switch {
	case err == nil:
		return true, nil
	case unclear(err), errors.Is(err, ErrBusy), errors.As(err, &known),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false, x.lock.fail(op, err)
	}
	return false, nil
}

// fresh is a new name among those of the checks.
func (x *examiner) fresh() string {
	x.numbers++
	return fmt.Sprintf("%s/d%d", x.at, x.numbers)
}

// make makes directories, which is known to work.
func (x *examiner) make(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := x.a.Mkdir(ctx, name); err != nil {
			return x.lock.fail("make a directory", err)
		}
	}
	return nil
}

// shown is where a name is, for people.
func (x *examiner) shown(name string) string {
	place, _, _ := strings.Cut(x.lock.Address, "?")
	place = place[:strings.LastIndexByte(place, '/')+1]
	if name == "." {
		return place
	}
	return place + name
}
