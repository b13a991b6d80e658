//go:build unix

package backendtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
)

// A Contest is a chaos test of one lock: processes contend for it, and some of them are
// killed at random. Each that gets in makes sure that nobody is inside who must not be
// there with it, unless he is dead.
type Contest struct {
	// Role is the part that copies of the test binary play to contend: they call Contend.
	Role string
	// Contenders is how many there are at a time, and Kills how often one is killed.
	Contenders, Kills int
	// Rounds is how often each gets in, unless it is killed.
	Rounds int
	// Stay is how long it is inside: the longer, the more die there.
	Stay time.Duration
	// Modes are those that it wants the lock in, one at random each time.
	Modes []string
	// Attempt is a wish for the lock that is in a directory.
	Attempt func(dir, mode string) (backend.Attempt, error)
}

const (
	lockVariable    = "LOCKSMITH_TEST_CHAOS"   // the directory of the lock
	witnessVariable = "LOCKSMITH_TEST_WITNESS" // and of what witnesses who is inside
)

// Run lets them contend for the lock in a directory. Afterwards somebody must have had it
// in each mode.
func (c Contest) Run(t *testing.T, dir string) {
	t.Helper()
	w := witness{dir: t.TempDir()}
	Chaos(t, c.Contenders, c.Kills, func() *exec.Cmd {
		return Copy(t, c.Role, lockVariable+"="+dir, witnessVariable+"="+w.dir)
	})
	raw, err := os.ReadFile(w.log())
	MustWork(t, err)
	log := string(raw)
	entered := strings.Count(log, enters)
	t.Logf("entered %d times, died inside %d times", entered, entered-strings.Count(log, leaves))
	for _, mode := range c.Modes {
		if !strings.Contains(log, enters+mode+" ") {
			t.Errorf("nobody ever held the lock, %s", mode)
		}
	}
}

// Contend is a contender's life; it returns the exit status.
func (c Contest) Contend() int {
	dir, w := os.Getenv(lockVariable), witness{dir: os.Getenv(witnessVariable)}
	for range c.Rounds {
		if err := c.enterOnce(dir, w); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

func (c Contest) enterOnce(dir string, w witness) error {
	mode := c.Modes[rand.IntN(len(c.Modes))]
	a, err := c.Attempt(dir, mode)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	h, err := backend.Acquire(ctx, a)
	if err != nil {
		return err
	}
	if err := w.stay(mode, h.Token(), c.Stay); err != nil {
		return err
	}
	return h.Release(ctx)
}
