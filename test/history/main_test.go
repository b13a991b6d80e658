package history

import (
	"flag"
	"os"
	"testing"
	"time"

	"locksmith/test/lab"
)

var (
	kills       = flag.Int("kills", 2000, "how many processes to kill")
	long        = flag.Bool("long", false, "kill 100000, unless -kills says otherwise")
	seed        = flag.Uint64("seed", 0, "decides who is killed when (0: the time does)")
	chosenKinds = flag.String("kinds", "", "only the kinds of locks that match this `regexp`")
)

const (
	// lease is short, as the death of a helper whose parent lives proves nothing.
	lease = 4 * time.Second
	// operatorTime is for how long a lock whose empty directory may stay is left to itself.
	operatorTime = 2 * lease
	// stuckTime is when a lock is stuck that is wanted, and that nobody gets though nobody
	// was killed: the lease, and some more for a slow machine.
	stuckTime = lease + 20*time.Second
	// waitLimit bounds each wait for what should come at once, on a slow machine.
	waitLimit = time.Minute
	// longKills is how many there are with -long.
	longKills = 100_000
)

func TestMain(m *testing.M) {
	switch os.Getenv(lab.RoleVariable) {
	case "":
		code := m.Run()
		built.Remove()
		os.Exit(code)
	case roleBroken:
		os.Exit(brokenHelper(os.Args[1:]))
	default:
		panic("unknown role")
	}
}

// toKill is how many kills there shall be.
func toKill() int {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "kills" })
	if *long && !given {
		return longKills
	}
	return *kills
}
