// Package backendtest is the conformance suite: what every backend must do, whatever it stands
// on. A backend joins by a test of its own that calls Run. The package also has what the tests of
// several backends have in common: processes that contend and are killed (Contest), other users
// (As, AsNobody), disks that are full (FullDisk), and hosts on fake time (Host).
package backendtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/backends/shelf"
)

// A Subject is the backend under test.
type Subject struct {
	// New returns a lock that nobody uses, and the means to look what is left of it.
	New func(t *testing.T) Fixture
	// Shared says that the lock can be shared.
	Shared bool
	// Queue says that waiters stand in a queue that others can see.
	Queue bool
	// KernelDrops says that the kernel frees the lock when the last process ends for which it keeps
	// the lock, whatever a record says of that process, and that nobody else can free it. Neither a
	// living parent nor --strict keeps such a lock, no lease counts, and nobody breaks it. Holders
	// that share such a lock leave no record, and get no tokens.
	KernelDrops bool
	// Expires says that a server ends the lease of a silent holder, by its own clock, whatever those ask
	// for who wait, and that it serves its queue in strict order: nobody who would share the lock ever
	// passes who waits for it alone.
	Expires bool
}

// A Fixture is one lock under test.
type Fixture struct {
	// Open returns the lock as a process of its own would open it.
	Open func() backend.Backend
	// Leftovers returns what is stored of the lock; nil once it is free.
	Leftovers func() []string
	// Remove destroys the lock under its holder.
	Remove func()
	// Removals are further ways to destroy the lock under its holder.
	Removals map[string]func()
	// Abandon leaves the hold behind, as a process that dies does.
	Abandon func(backend.Hold)
	// Garble makes the record of the holder one that nobody can read; nil: the kind has no record that
	// others could write, or a test of its own for this.
	Garble func()
	// Stay is how long a holder stays in tests in which several are to share the lock; 0: half a
	// millisecond. If an acquisition takes much longer than that, no two may be there at once.
	Stay time.Duration
}

// patience bounds every wait of the suite. No result depends on its length.
const patience = time.Minute

// Request returns a request for an exclusive lock by this process.
func Request() backend.Request {
	self, err := process.Find(os.Getpid())
	if err != nil {
		panic(err) // a test machine without /proc
	}
	return backend.Request{
		Owner: owner.Record{Place: owner.Here(), Helper: self, User: "tester", Mode: "exclusive", Lease: time.Minute},
		Clock: clock.Boot{}, Timeout: backend.NoLimit,
	}
}

// SharedRequest returns a request for a shared lock by this process.
func SharedRequest() backend.Request {
	r := Request()
	r.Owner.Mode = "shared"
	return r
}

// DeadProcess returns a process that has ended.
func DeadProcess(t *testing.T) process.Process {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p, err := process.Find(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return p
}

// Run runs the suite.
func Run(t *testing.T, s Subject) {
	run(t, s, always)
	if s.KernelDrops {
		run(t, s, whereKernelDrops)
	} else {
		run(t, s, whereBroken)
	}
	if s.Expires {
		run(t, s, whereExpired)
	} else if !s.KernelDrops {
		run(t, s, whereWatched)
	}
	if s.Shared {
		run(t, s, whereShared)
	}
	if s.Shared && !s.KernelDrops {
		run(t, s, whereSharedOnRecord)
	}
	if s.Shared && !s.KernelDrops && !s.Expires {
		run(t, s, whereSharersPass)
	}
	if s.Queue {
		run(t, s, whereQueued)
	}
}

func run(t *testing.T, s Subject, cases []testCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.test(t, s.New(t)) })
	}
}

type testCase struct {
	name string
	test func(*testing.T, Fixture)
}

var (
	always = []testCase{
		{"acquire and release", acquireRelease},
		{"inspect", inspect},
		{"inspect beside others that come and go", inspectBesideOthers},
		{"held tells who", heldTellsWho},
		{"wait ends with release", waitEndsWithRelease},
		{"wait ends with context", waitEndsWithContext},
		{"ids are never used twice", freshIDs},
		{"never two holders", mutualExclusion},
		{"lost lock is noticed", lossNoticed},
		{"late release of a broken holder hits nothing", lateRelease},
		{"housekeeping beside all else", tendBeside},
		{"successes", successes},
		{"notes of breaks", notes},
	}
	// whereBroken is for kinds of locks that others break when the holder is dead.
	whereBroken = []testCase{
		{"wait ends with death", waitEndsWithDeath},
		{"dead holder is broken", deadHolderBroken},
		{"parent alive keeps the lock until the lease is over", parentAlive},
		{"grace", gracePeriod},
		{"a record that nobody can read is held", unreadable},
		{"break by id", breakByID},
	}
	// whereWatched is for those of them in which others watch for how long a holder is silent, and
	// whereExpired for those in which a server does.
	whereWatched = []testCase{
		{"strict never breaks by lease", strict},
		{"a holder that beats is kept although its host cannot be seen", beatsUnseen},
		{"a new holder is watched anew", watchedAnew},
	}
	whereExpired = []testCase{
		{"a server ends the lease of a silent holder", serverExpires},
		{"who would share never passes who waits alone", strictOrder},
	}
	whereKernelDrops = []testCase{
		{"the kernel frees the lock of a dead holder", kernelFrees},
		{"wait ends when the kernel frees the lock", waitEndsWithDrop},
		{"nobody breaks it", nobodyBreaks},
	}
	whereShared = []testCase{
		{"shared excludes exclusive", sharedExcludesExclusive},
		{"exclusive excludes shared", exclusiveExcludesShared},
		{"inspect beside a lock that is shared in turn", inspectBesideSharers},
		{"never an exclusive holder with others", mixedStress},
	}
	// whereSharedOnRecord is for locks whose place has a record of each holder that shares.
	whereSharedOnRecord = []testCase{
		{"several share", severalShare},
		{"shared tells who", sharedTellsWho},
		{"a dead one of several is broken", deadSharerBroken},
		{"break one of several by id", breakSharerByID},
		{"tokens", tokens},
	}
	// whereSharersPass is for locks at which they do so after a while.
	whereSharersPass = []testCase{
		{"newcomers that share leave it to who waits", writerPreference},
	}
	whereQueued = []testCase{
		{"the queue is seen in order", queueSeen},
		{"waiters take their turns", takeTurns},
	}
)

func attempt(t *testing.T, f Fixture, r backend.Request) backend.Attempt {
	t.Helper()
	a, err := f.Open().Attempt(r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func take(t *testing.T, f Fixture, r backend.Request) backend.Hold {
	t.Helper()
	return MustHold(t, attempt(t, f, r))
}

func nothingLeft(t *testing.T, f Fixture) {
	t.Helper()
	if left := f.Leftovers(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func report(t *testing.T, f Fixture) backend.Report {
	t.Helper()
	r, err := shelf.Inspect(t.Context(), f.Open())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// GenerationLeftovers is what should not be left of a free lock in the format of nfs:, which is
// all but the newest generations.
func GenerationLeftovers(path string) []string {
	left, _ := filepath.Glob(filepath.Join(path, "R", "*"))
	in, _ := filepath.Glob(filepath.Join(path, "G", "*"))
	generations := 0
	for _, name := range in {
		if strings.HasPrefix(filepath.Base(name), "lock.") {
			generations++
		} else {
			left = append(left, name)
		}
	}
	if generations > 4 {
		left = append(left, in...)
	}
	return left
}
