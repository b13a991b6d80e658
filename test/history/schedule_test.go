//go:build unix

package history

import (
	"math/rand/v2"
	"time"
)

// An injection is what is done to a parent and its helper.
type injection int

const (
	spared     injection = iota
	killParent           // its helper lives, and must release
	killHelper           // its parent lives, so only the lease decides
	killBoth             // both are dead by proof
	stopBriefly
	stopForLong // for longer than the lease
	injections
)

var injectionNames = [injections]string{"spared", "parent", "helper", "both", "stop", "stop > lease"}

// deadly reports whether the injection is a kill -9.
func (b injection) deadly() bool { return b == killParent || b == killHelper || b == killBoth }

// A phase is the part of a round in which an injection comes.
type phase int

const (
	starting  phase = iota // after want: the helper starts, waits, and takes the lock
	working                // after enter
	releasing              // after leave
)

// phases are the phases in which injections come, each as likely as another.
var phases = []phase{starting, working, working, releasing}

// A schedule is everything that chance decides about one round of a contender. A seed gives every
// contender the same schedules again.
type schedule struct {
	pause     time.Duration // before the parent wants the lock
	stay      time.Duration // inside
	injection injection
	phase     phase
	delay     time.Duration // of the injection, from the beginning of its phase
	stop      time.Duration // how long a helper is stopped
	ends      bool          // the parent ends if something went wrong
}

// chances are how often of 100 times each injection comes.
var chances = [injections]int{spared: 20, killParent: 26, killHelper: 18, killBoth: 29, stopBriefly: 4, stopForLong: 3}

func newSchedule(seed uint64, contender, round int) schedule {
	random := rand.New(rand.NewPCG(seed, uint64(contender)<<32|uint64(round)))
	upTo := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d))) }
	f := schedule{
		pause: upTo(40 * time.Millisecond), stay: upTo(5 * time.Millisecond),
		phase: phases[random.IntN(len(phases))], ends: random.IntN(2) == 0,
	}
	if random.IntN(100) < 2 {
		f.stay = lease/2 + upTo(lease) // long enough for heartbeats
	}
	for n := random.IntN(100); n >= chances[f.injection]; f.injection++ {
		n -= chances[f.injection]
	}
	delays := map[phase]time.Duration{starting: 60 * time.Millisecond, working: f.stay, releasing: 4 * time.Millisecond}
	f.delay = upTo(delays[f.phase] + 1)
	stops := map[injection]time.Duration{stopBriefly: lease / 2, stopForLong: lease + lease*3/4}
	if longest := stops[f.injection]; longest > 0 {
		f.stop = longest - upTo(lease/2)
	}
	if f.phase == working {
		f.stay += f.stop // it is inside all the time
	}
	return f
}
