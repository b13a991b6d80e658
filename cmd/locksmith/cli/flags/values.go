package flags

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"locksmith/backends/backoff"
	"locksmith/cmd/locksmith/profile"
	"locksmith/locksmith"
)

// A value is the value of a flag: where it goes, how it is read and written, and what help calls
// it. A default that is written as "" is not shown.
type value[T any] struct {
	to    *T
	read  func(string) (T, error)
	write func(T) string
	name  string
}

// Set implements pflag.Value.
func (v value[T]) Set(text string) error {
	read, err := v.read(text)
	if err == nil {
		*v.to = read
	}
	return err
}

// String implements pflag.Value.
func (v value[T]) String() string { return v.write(*v.to) }

// Type names the flag's argument in help texts.
func (v value[T]) Type() string { return v.name }

// Duration is a flag's value written as "1m30s", or as a number of seconds.
func Duration(to *time.Duration) pflag.Value {
	return value[time.Duration]{to, profile.ParseDuration, func(d time.Duration) string {
		if d == 0 || d == locksmith.Forever {
			return ""
		}
		return d.String()
	}, "duration"}
}

// Range is a flag's value of two durations, "25ms..100ms", or one.
func Range(to *backoff.Range) pflag.Value {
	return value[backoff.Range]{to, profile.ParseRange, func(r backoff.Range) string {
		if r == (backoff.Range{}) {
			return ""
		}
		return r.Min.String() + ".." + r.Max.String()
	}, "MIN..MAX"}
}

// An alias is a flag without an argument that gives another flag a value. The last on the
// command line counts, as with flock(1).
type alias struct {
	flags     *pflag.FlagSet
	of, value string
}

// AddAlias declares a flag that gives the flag of this value.
func AddAlias(f *pflag.FlagSet, name, letter, of, value, usage string) {
	f.VarPF(alias{f, of, value}, name, letter, usage).NoOptDefVal = "true"
}

// Set implements pflag.Value.
func (a alias) Set(text string) error {
	on, err := strconv.ParseBool(text)
	if err != nil || !on {
		return err
	}
	return a.flags.Set(a.of, a.value)
}

// String shows no default.
func (alias) String() string { return "" }

// Type returns the type of flags without an argument.
func (alias) Type() string { return "bool" }

// Unlimited is no count at all.
const Unlimited = -1

// Count is a flag's value that is a number of times, or Unlimited if it is not given.
func Count(to *int) pflag.Value {
	return value[int]{to, profile.ParseCount, func(n int) string {
		if n == Unlimited {
			return ""
		}
		return strconv.Itoa(n)
	}, "number"}
}

// A Number is a number from Least to Most on the command line. Unlike pflag's own it can tell 0
// from not given, and says how to write it.
type Number struct {
	Value       uint64
	Least, Most uint64
	Given       bool // by the command line
}

// Set implements pflag.Value.
func (n *Number) Set(text string) error {
	value, err := strconv.ParseUint(text, 10, 64)
	switch {
	case err == nil && value >= n.Least && value <= n.Most:
		n.Value, n.Given = value, true
		return nil
	case n.Most == math.MaxUint64:
		return fmt.Errorf("write a number from %d", n.Least)
	}
	return fmt.Errorf("write a number from %d to %d", n.Least, n.Most)
}

// String shows no default if there is none: pflag leaves 0 out.
func (n *Number) String() string { return strconv.FormatUint(n.Value, 10) }

// Type names the flag's argument in help texts.
func (n *Number) Type() string { return "number" }
