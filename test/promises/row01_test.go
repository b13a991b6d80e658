//go:build linux

package promises

import (
	"strings"
	"time"

	"locksmith/backends/owner"
	"locksmith/test/lab/kinds"
)

// row1: a dead holder of another host, and a job that comes again and again. It may be left out
// for as long as somebody may live; it may not be left out for ever without a word.
func row1() []question {
	const want = "of four short quiet tries, a lease apart, one takes the lock or tells"
	return []question{
		{row: 1, name: "at home", want: want, ask: comesAgain(box{}), of: ofManyHosts},
		{row: 1, name: "no home that lasts", want: want, ask: comesAgain(box{memory: "ro", homeless: true}), of: ofManyHosts},
		{row: 1, name: "a fresh container for each try", want: want, ask: comesAgain(box{host: "fresh", memory: "rw"})},
		{row: 1, name: "strict", want: want, ask: comesAgain(box{}, "--strict"), of: ofManyHosts},
		{row: 1, name: "stopped on this host", want: want, ask: staysStopped},
		{row: 1, name: "no home that lasts, for doctor", want: "doctor says that this user's tries cannot remember", ask: forgets,
			of: func(k kinds.Kind) bool { return ofThisDisk(k) && hasLease(k) }},
	}
}

// comesAgain has a holder die and then a job come again and again, in boxes. A kind for one
// machine has a holder in a container.
func comesAgain(b box, flags ...string) func(*cell) evil {
	return func(c *cell) evil {
		where := elsewhere()
		if c.Host {
			where = box{host: "gone", memory: "rw"}
		}
		c.die(where)
		return c.tries(c.lease()+c.lease()/4, func() said {
			try := c.command(c.trying(append(c.short(), flags...)...)...)
			if b != (box{}) {
				try = c.in(b, try)
			}
			return c.finish(try)
		})
	}
}

// staysStopped has a holder of this host stopped. A lock without a lease is told of when it has been had for as
// long as a lease usually is.
func staysStopped(c *cell) evil {
	j := c.run(c.short()...)
	j.Stop()
	defer j.Cont()
	pause := c.lease() + c.lease()/4
	if !hasLease(c.Kind) {
		pause = owner.UsualLease + time.Second
	}
	return c.tries(pause, func() said { return c.finish(c.command(c.trying(c.short()...)...)) })
}

// tries has a job come four times, with a pause before each. One must take the lock or tell.
func (c *cell) tries(pause time.Duration, try func() said) evil {
	for range 4 {
		time.Sleep(pause)
		if s := try(); told(s) || strings.Contains(s.out, "ran") {
			return ""
		}
	}
	return "all are left out with status 0 and not a word"
}

func forgets(c *cell) evil {
	s := c.finish(c.in(box{memory: "ro", homeless: true}, c.command("doctor", c.Address)))
	if !s.has("cannot remember") {
		return evil(s.String())
	}
	return ""
}

// die has a holder in a box die with the whole box.
func (c *cell) die(where box) {
	c.Helper()
	j := c.started(c.in(where, c.command(append(append([]string{"run"}, c.short()...), c.Address, "--", "sh", "-c", "echo in; exec sleep 600")...)))
	j.Kill()
}

// told reports whether a short quiet try has told of what a person must hear.
func told(s said) bool { return s.status == 75 && strings.Contains(s.err, "locksmith: ") }
