package cli

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"locksmith/backends/manners"
	"locksmith/cmd/locksmith/profile"
	"locksmith/locksmith"
)

// seconds is a duration on the command line: "1m30s", or a number of seconds.
type seconds time.Duration

func (s *seconds) Set(text string) error {
	d, err := profile.ParseDuration(text)
	if err != nil {
		return err
	}
	*s = seconds(d)
	return nil
}

func (s *seconds) String() string {
	if *s == 0 || *s == seconds(locksmith.Forever) {
		return "" // pflag shows that there is no default
	}
	return time.Duration(*s).String()
}

// Type names the flag's argument in help texts.
func (s *seconds) Type() string { return "duration" }

// pauses are a range of durations on the command line: "25ms..100ms", or one.
type pauses manners.Range

func (p *pauses) Set(text string) error {
	r, err := profile.ParseRange(text)
	*p = pauses(r)
	return err
}

func (p *pauses) String() string {
	if *p == (pauses{}) {
		return ""
	}
	return p.Min.String() + ".." + p.Max.String()
}

// Type names the flag's argument in help texts.
func (p *pauses) Type() string { return "MIN..MAX" }

// count is a number on the command line.
type count int

const unlimited count = -1

func (c *count) Set(text string) error {
	n, err := profile.ParseCount(text)
	*c = count(n)
	return err
}

func (c *count) String() string {
	if *c == unlimited {
		return ""
	}
	return strconv.Itoa(int(*c))
}

// Type names the flag's argument in help texts.
func (c *count) Type() string { return "number" }

// A bounded is a number from least to most on the command line. Unlike pflag's own it can tell 0
// from none, and says how to write it.
type bounded struct {
	value       uint64
	least, most uint64
	given       bool
}

func (n *bounded) Set(text string) error {
	value, err := strconv.ParseUint(text, 10, 64)
	switch {
	case err == nil && value >= n.least && value <= n.most:
		n.value, n.given = value, true
		return nil
	case n.most == math.MaxUint64:
		return fmt.Errorf("write a number from %d", n.least)
	}
	return fmt.Errorf("write a number from %d to %d", n.least, n.most)
}

// String shows no default where there is none: pflag leaves 0 out.
func (n *bounded) String() string { return strconv.FormatUint(n.value, 10) }

// Type names the flag's argument in help texts.
func (n *bounded) Type() string { return "number" }
