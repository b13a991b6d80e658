package nfs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backendtest"
	"locksmith/backends/process"
)

const (
	roleContender = "contender"
	chaosVariable = "LOCKSMITH_TEST_CHAOS" // the directory of the lock and its log
)

// TestChaos lets processes contend for one lock, alone or together, and kills
// some of them at random. Each that enters makes sure that those who did not say
// that they left may be there with it, or are dead.
func TestChaos(t *testing.T) {
	dir := t.TempDir()
	backendtest.Chaos(t, 6, 60, func() *exec.Cmd {
		return backendtest.Copy(t, roleContender, chaosVariable+"="+dir)
	})
	checkChaosLog(t, dir)
	notStuck(t, dir)
}

func checkChaosLog(t *testing.T, dir string) {
	raw, err := os.ReadFile(filepath.Join(dir, "log"))
	mustWork(t, err)
	entered := strings.Count(string(raw), "enter")
	t.Logf("entered %d times, died inside %d times", entered, entered-strings.Count(string(raw), "leave"))
	for _, mode := range modes() {
		if !strings.Contains(string(raw), "enter "+mode) {
			t.Errorf("nobody was ever %s", mode)
		}
	}
}

// notStuck takes the lock, and removes at once what is left of the dead.
func notStuck(t *testing.T, dir string) {
	path := filepath.Join(dir, "lock")
	h := mustAcquire(t, attemptAt(t, path, "exclusive"))
	for range 2 { // a record is only known to be nobody's once its reservation is gone
		mustWork(t, h.(backend.Tender).Tend(t.Context()))
	}
	mustRelease(t, h)
	for _, left := range leftovers(t, path) {
		// Who died just after it joined others has a place in the queue without a
		// record, which goes after a lease.
		place, waits := strings.CutPrefix(filepath.Base(left), "t.")
		if _, err := os.Lstat(filepath.Join(path, "R", "i."+place)); !waits || err == nil {
			t.Errorf("left behind: %s", left)
		}
	}
}

// contend is a contender's life: it enters and leaves a few times.
func contend() int {
	const rounds = 30
	dir := os.Getenv(chaosVariable)
	for range rounds {
		if err := enterOnce(dir, modes()[rand.IntN(2)]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

func enterOnce(dir, mode string) error {
	l, err := Open(backend.Address{Scheme: Scheme, Path: filepath.Join(dir, "lock")})
	if err != nil {
		return err
	}
	r := requestFor(mode)
	r.Strict = true // no holder here is silent for a lease, unless the machine is
	a, err := l.Attempt(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	h, err := backend.Acquire(ctx, a)
	if err != nil {
		return err
	}
	if err := beInside(filepath.Join(dir, "log"), mode, r.Owner.Helper, h.Token()); err != nil {
		return err
	}
	return h.Release(ctx)
}

// beInside enters, stays a moment, and leaves. Its lines are single appends, so
// they come in the order of events.
func beInside(path, mode string, self process.Process, token uint64) error {
	log, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	if _, err := fmt.Fprintf(log, "enter %s %d %d %d\n", mode, self.PID, self.Start, token); err != nil {
		return err
	}
	for range 2 {
		if err := compatible(path, mode, self, token); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	_, err = fmt.Fprintf(log, "leave %s %d %d %d\n", mode, self.PID, self.Start, token)
	return err
}

// compatible looks for somebody living who must not be inside with us. Only two
// who share may be there at once, and then they have one token.
func compatible(path, mode string, self process.Process, token uint64) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	inside := map[process.Process]string{}
	for line := range strings.Lines(string(raw)) {
		var did, theirs string
		var p process.Process
		var n uint64
		if _, err := fmt.Sscanf(line, "%s %s %d %d %d", &did, &theirs, &p.PID, &p.Start, &n); err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
		delete(inside, p)
		if did == "enter" && p != self && (theirs == "exclusive" || mode == "exclusive" || n != token) {
			inside[p] = line
		}
	}
	for p, line := range inside {
		if !p.Gone() {
			return fmt.Errorf("%s with token %d, but %q has not left and is alive", mode, token, line)
		}
	}
	return nil
}
