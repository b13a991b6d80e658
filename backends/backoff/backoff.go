// Package backoff says how often a waiter asks where nothing wakes it. First come a few quick
// polls, for locks that are held only for a moment. Then comes a slow pause, which grows with
// each round, so that a crowd of waiters does not wear down a server. Later it shrinks again, so
// that nobody asks seldom for ever.
//
// The numbers are those of the Tcl original: 16 polls, 25 to 100 ms apart, at random so that
// waiters who came together do not stay together; then a pause of 2 s, the next time of 4 s, and
// so on to 32 s and back to 2 s.
package backoff

import (
	"math/rand/v2"
	"time"
)

// A Range is from Min to Max, both included.
type Range struct{ Min, Max time.Duration }

// A Config says how long the pauses are. A field that is zero counts as in Default.
type Config struct {
	Poll  Range // between quick polls, at random
	Quick int   // how many quick polls come before a slow pause
	// Slow are the slow pauses. The first is Min. Each next one is Min longer, up to Max, then
	// Min shorter, down to Min, and so on.
	Slow Range
	// Random returns a number from 0 to n-1. The default is rand.Int64N.
	Random func(n int64) int64
}

// Default returns the pauses of the Tcl original.
func Default() Config {
	return Config{
		Poll:   Range{25 * time.Millisecond, 100 * time.Millisecond},
		Quick:  16,
		Slow:   Range{2 * time.Second, 32 * time.Second},
		Random: rand.Int64N,
	}
}

// orDefault fills in what is missing. A range whose Max is below its Min becomes Min alone.
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

// A Schedule is the sequence of pauses of one waiter. The zero Schedule is that of Default. It is
// for one goroutine at a time.
type Schedule struct {
	Config Config
	polls  int           // how many since the last slow pause
	slow   time.Duration // the last slow pause
	falls  bool          // the slow pauses are getting shorter
}

// Next returns the next pause.
func (s *Schedule) Next() time.Duration {
	c := s.Config.orDefault()
	if s.polls < c.Quick {
		s.polls++
		return c.Poll.Min + time.Duration(c.Random(int64(c.Poll.Max-c.Poll.Min)+1))
	}
	s.polls = 0
	return s.swing(c.Slow)
}

// swing returns the next slow pause.
func (s *Schedule) swing(r Range) time.Duration {
	switch {
	case s.slow >= r.Max:
		s.falls = true
	case s.slow <= r.Min:
		s.falls = false
	}
	if s.falls {
		s.slow = max(s.slow-r.Min, r.Min)
	} else {
		s.slow += min(r.Min, r.Max-s.slow) // without overflow
	}
	return s.slow
}

// A Growth is the sequence of pauses of a waiter that had no answer and asks again. Each pause is
// half as long again as the one before, less up to half of it at random, so that waiters which
// one server turned away together do not come back together. The zero Growth begins with First.
// It is for one goroutine at a time.
type Growth struct {
	First, Most time.Duration
	next        time.Duration // 0: it has not begun
}

// Next returns the next pause.
func (g *Growth) Next() time.Duration {
	d := min(max(g.next, g.First), g.Most)
	g.next = d + d/2
	return d - rand.N(d/2+1)
}

// Reset begins with First again.
func (g *Growth) Reset() { g.next = 0 }

// Schedule returns a Schedule with these pauses; nil if c is nil.
func (c *Config) Schedule() *Schedule {
	if c == nil {
		return nil
	}
	return &Schedule{Config: *c}
}

// NextOr returns the next pause, or the usual one if s is nil.
func (s *Schedule) NextOr(usual time.Duration) time.Duration {
	if s == nil {
		return usual
	}
	return s.Next()
}
