package flags

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"locksmith/backends/backoff"
	"locksmith/cmd/locksmith/profile"
	"locksmith/locksmith"
)

// A Duration is one on the command line: "1m30s", or a number of seconds.
type Duration time.Duration

// Set implements pflag.Value.
func (s *Duration) Set(text string) error {
	d, err := profile.ParseDuration(text)
	if err != nil {
		return err
	}
	*s = Duration(d)
	return nil
}

// String implements pflag.Value.
func (s *Duration) String() string {
	if *s == 0 || *s == Duration(locksmith.Forever) {
		return "" // pflag shows that there is no default
	}
	return time.Duration(*s).String()
}

// Type names the flag's argument in help texts.
func (s *Duration) Type() string { return "duration" }

// A Range is of durations on the command line: "25ms..100ms", or one.
type Range backoff.Range

// Set implements pflag.Value.
func (p *Range) Set(text string) error {
	r, err := profile.ParseRange(text)
	*p = Range(r)
	return err
}

// String implements pflag.Value.
func (p *Range) String() string {
	if *p == (Range{}) {
		return ""
	}
	return p.Min.String() + ".." + p.Max.String()
}

// Type names the flag's argument in help texts.
func (p *Range) Type() string { return "MIN..MAX" }

// A Count is a number of times on the command line.
type Count int

// Unlimited is no count at all.
const Unlimited Count = -1

// Set implements pflag.Value.
func (c *Count) Set(text string) error {
	n, err := profile.ParseCount(text)
	*c = Count(n)
	return err
}

// String implements pflag.Value.
func (c *Count) String() string {
	if *c == Unlimited {
		return ""
	}
	return strconv.Itoa(int(*c))
}

// Type names the flag's argument in help texts.
func (c *Count) Type() string { return "number" }

// A Number is a number from Least to Most on the command line. Unlike pflag's own it can tell 0
// from none, and says how to write it.
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

// String shows no default where there is none: pflag leaves 0 out.
func (n *Number) String() string { return strconv.FormatUint(n.Value, 10) }

// Type names the flag's argument in help texts.
func (n *Number) Type() string { return "number" }
