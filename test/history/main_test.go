//go:build unix

package history

import (
	"flag"
	"os"
	"testing"
	"time"

	"locksmith/test/lab"
	"locksmith/test/s3server"
)

var (
	kills       = flag.Int("kills", 400, "how many processes to kill")
	long        = flag.Bool("long", false, "kill 100000, unless -kills says otherwise")
	seed        = flag.Uint64("seed", 0, "decides who is killed when (0: the time does)")
	chosenKinds = flag.String("kinds", "", "only the kinds of locks that match this `regexp`")
)

const (
	// lease is short, because the death of a helper whose parent lives proves nothing.
	lease = 4 * time.Second
	// operatorTime is how long a lock whose empty directory may stay is left to itself.
	operatorTime = 2 * lease
	// stuckTime is when a wanted lock counts as stuck that nobody gets although nobody was
	// killed: after the lease, and some more for a slow machine. It is counted in looks, so a
	// pause of the machine does not count.
	stuckTime = lease + 20*time.Second
	// lookTime is the time between two looks at a lock.
	lookTime = lease / 10
	// longKills is how many kills there are with -long.
	longKills = 100_000
)

func TestMain(m *testing.M) {
	s3server.SetEnvironment()
	if os.Getenv("LAB_HOSTS") != "" { // a guest has one processor, and its processes mostly wait
		lab.Parallel(4)
	}
	lab.Main(m, map[string]func() int{roleBroken: brokenHelper, roleWorker: work})
}

// toKill returns how many kills there shall be.
func toKill() int {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "kills" })
	if *long && !given {
		return longKills
	}
	return *kills
}
