//go:build unix

package backendtest

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

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/process"
	"locksmith/test/lab"
)

// A Contest is a chaos test of one lock: processes contend for it, and some of them are killed at
// random. Each process that gets the lock makes sure that no other living process has it, unless
// they share it.
type Contest struct {
	// Role is the part that copies of the test binary play to contend: they call Contend.
	Role string
	// Contenders is how many processes contend at a time. Kills is how often one is killed.
	Contenders, Kills int
	// Rounds is how often each gets the lock, unless it is killed.
	Rounds int
	// Stay is how long each holds the lock: the longer, the more die with it.
	Stay time.Duration
	// Modes are the modes in which each wants the lock, one at random each time.
	Modes []string
	// Attempt returns an attempt at the lock that is in a directory.
	Attempt func(dir, mode string) (backend.Attempt, error)
}

const (
	lockVariable    = "LOCKSMITH_TEST_CHAOS"   // the directory of the lock
	witnessVariable = "LOCKSMITH_TEST_WITNESS" // the directory of the witness
)

// Run lets the processes contend for the lock in a directory. Afterwards somebody must have had
// it in each mode.
func (c Contest) Run(t *testing.T, dir string) {
	t.Helper()
	w := witness{dir: t.TempDir()}
	Chaos(t, c.Contenders, c.Kills, func() *exec.Cmd {
		return lab.Copy(c.Role, lockVariable+"="+dir, witnessVariable+"="+w.dir)
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

// Contend is the life of a contender, and returns its exit status.
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

// Chaos lets copies of the test binary contend. It kills some with -9 at random moments, and
// replaces each by another. Those that are left must end well.
func Chaos(t *testing.T, contenders, kills int, contender func() *exec.Cmd) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	running := make([]*lab.Process, contenders)
	for i := range running {
		running[i] = lab.Start(t, contender())
	}
	for range kills {
		time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond)
		i := random.IntN(contenders)
		running[i].Kill()
		running[i] = lab.Start(t, contender())
	}
	for _, c := range running {
		<-c.Ended() // contenders have their own bounds
		c.Exits(0)
	}
}

// A witness knows which processes are inside, that is, have the lock. It has two sources: a lock
// of the kernel, which ends with its process, and a log of those that came and went. Only the log
// tells of an intruder that has died since.
type witness struct{ dir string }

// What the lines of the log begin with. The mode, the process and the token follow.
const (
	enters = "enter "
	leaves = "leave "
)

func (w witness) log() string { return filepath.Join(w.dir, "log") }

// stay enters, stays for a while, and leaves. Each line in the log is a single append, so the
// lines are in the order of events.
func (w witness) stay(mode string, token uint64, d time.Duration) error {
	self, err := process.Find(os.Getpid())
	if err != nil {
		return err
	}
	log, err := os.OpenFile(w.log(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	room, err := w.occupy(mode)
	if err != nil {
		return err
	}
	defer room.Close()
	us := visit{mode, self, token}
	if _, err := fmt.Fprintln(log, enters+us.String()); err != nil {
		return err
	}
	if err := w.check(us); err != nil {
		return err
	}
	time.Sleep(d)
	if err := w.check(us); err != nil {
		return err
	}
	_, err = fmt.Fprintln(log, leaves+us.String())
	return err
}

// occupy locks a file in the kernel until it is closed.
func (w witness) occupy(mode string) (*os.File, error) {
	room, err := os.OpenFile(filepath.Join(w.dir, "room"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	how := unix.LOCK_EX
	if mode == "shared" {
		how = unix.LOCK_SH
	}
	if err := unix.Flock(int(room.Fd()), how|unix.LOCK_NB); err != nil {
		room.Close()
		return nil, fmt.Errorf("not alone, %s: %w", mode, err)
	}
	return room, nil
}

// check looks for processes that must not be inside with us: living ones that came before us and
// have not left; and, if we are exclusive, any that came after us.
func (w witness) check(us visit) error {
	raw, err := os.ReadFile(w.log())
	if err != nil {
		return err
	}
	before, after, _ := cutLast(string(raw), enters+us.String()+"\n")
	if after != "" && us.mode == "exclusive" {
		return fmt.Errorf("not alone: after %q came %q", us, after)
	}
	inside := map[string]bool{}
	for line := range strings.Lines(before + after) {
		if who, did := strings.CutPrefix(line, enters); did {
			inside[who] = true
		} else {
			delete(inside, strings.TrimPrefix(line, leaves))
		}
	}
	for who := range inside {
		them, err := parseVisit(who)
		if err != nil {
			return err
		}
		if !us.with(them) && !them.process.Gone() {
			return fmt.Errorf("%q has not left and is alive, and here is %q", them, us)
		}
	}
	return nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// A visit is one stay of a process inside.
type visit struct {
	mode    string
	process process.Process
	token   uint64
}

func (v visit) String() string {
	return fmt.Sprintf("%s %d %d %d", v.mode, v.process.PID, v.process.Start, v.token)
}

func parseVisit(s string) (v visit, err error) {
	if _, err = fmt.Sscanf(s, "%s %d %d %d", &v.mode, &v.process.PID, &v.process.Start, &v.token); err != nil {
		err = fmt.Errorf("%q: %w", s, err)
	}
	return v, err
}

// with reports whether both may be inside at once: only those that share may, and then they
// have one token.
func (v visit) with(other visit) bool {
	return v.mode == "shared" && other.mode == "shared" && v.token == other.token
}
