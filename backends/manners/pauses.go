package manners

import (
	"math/rand/v2"
	"time"
)

// A Range is from Min to Max, both included.
type Range struct{ Min, Max time.Duration }

// A Config says how long the pauses are. What is zero in it is as in Default.
type Config struct {
	Poll  Range // between quick polls, at random
	Quick int   // how many of those there are, before a slow pause
	// Slow are the slow pauses: the first is Min, each next one is Min longer, up to
	// Max, and then Min shorter, down to Min, and so on.
	Slow Range
	// Random returns a number from 0 to n-1: rand.Int64N.
	Random func(n int64) int64
}

// Default returns the manners of the Tcl original.
func Default() Config {
	return Config{
		Poll:   Range{25 * time.Millisecond, 100 * time.Millisecond},
		Quick:  16,
		Slow:   Range{2 * time.Second, 32 * time.Second},
		Random: rand.Int64N,
	}
}

// orDefault fills in what is missing. Ranges the wrong way round become a point.
func (c Config) orDefault() Config {
	d := Default()
	if c.Poll == (Range{}) {
		c.Poll = d.Poll
	}
	if c.Slow == (Range{}) {
		c.Slow = d.Slow
	}
	if c.Quick <= 0 {
		c.Quick = d.Quick
	}
	if c.Random == nil {
		c.Random = d.Random
	}
	c.Poll.Max, c.Slow.Max = max(c.Poll.Min, c.Poll.Max), max(c.Slow.Min, c.Slow.Max)
	return c
}

// Pauses are the pauses of one waiter, one after the other. The zero Pauses are
// those of Default. They are for one goroutine at a time.
type Pauses struct {
	Config Config
	polls  int           // since the last slow pause
	slow   time.Duration // the last slow pause
	falls  bool          // the slow pauses become shorter
}

// Next returns the next pause.
func (p *Pauses) Next() time.Duration {
	c := p.Config.orDefault()
	if p.polls < c.Quick {
		p.polls++
		return c.Poll.Min + time.Duration(c.Random(int64(c.Poll.Max-c.Poll.Min)+1))
	}
	p.polls = 0
	return p.swing(c.Slow)
}

// swing returns the next slow pause.
func (p *Pauses) swing(s Range) time.Duration {
	switch {
	case p.slow >= s.Max:
		p.falls = true
	case p.slow <= s.Min:
		p.falls = false
	}
	if p.falls {
		p.slow = max(p.slow-s.Min, s.Min)
	} else {
		p.slow += min(s.Min, s.Max-p.slow) // without overflow
	}
	return p.slow
}

// Asked returns the pauses that a user asked for, or nil if c is nil.
func Asked(c *Config) *Pauses {
	if c == nil {
		return nil
	}
	return &Pauses{Config: *c}
}

// NextOr returns the next pause, or the usual one where p is nil.
func (p *Pauses) NextOr(usual time.Duration) time.Duration {
	if p == nil {
		return usual
	}
	return p.Next()
}
