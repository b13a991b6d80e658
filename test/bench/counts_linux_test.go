package bench

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksmith/protocol"
	"locksmith/test/lab"
)

// A limit is how much more somebody may do than a bare program that spawns the same command, or that says OK and
// waits. What a machine's load adds goes away in the least of many runs.
type limit struct {
	of    string // one of subjects
	count string // a system call, or one of the counts below
	most  int
	why   string
}

// Counts of more than one system call, or of some calls of one.
const (
	faults  = "page faults"           // by getrusage(2); all others are strace's
	others  = "other calls"           // all but those of threads, and those that depend on when these run (unsteady)
	looks   = "looks for the command" // of a run that holds the lock
	sockets = "looks at all sockets of the machine"
	listed  = "listings of those who wait, nfs:"
)

var unsteady = map[string]bool{
	"futex": true, "nanosleep": true, "clock_nanosleep": true, "sched_yield": true, "epoll_pwait": true, "rt_sigreturn": true,
	"tgkill": true, "getpid": true, "madvise": true, "restart_syscall": true,
	"timerfd_create": true, "timerfd_settime": true, "clock_gettime": true, // of calls that take longer than 2 ms
	"clone": true, "gettid": true, "sigaltstack": true, "rt_sigprocmask": true, // of each thread
}

const (
	ofStart   = "what the runtime and the initialisers of libraries do, singleproc and Lean spare, and the lock takes"
	ofThreads = "threads that a helper makes before it takes the lock, so that ulimit -u cannot end it later"
	ofSignals = "signals that are caught before the command; the others when they can matter"
	ofFiles   = "of /proc and /etc one by one, and those of the lock"
	noLook    = "a wait is told after a second, and most are over by then; a quiet one is not told"
	oneLook   = "what is told has the name of the command in it"
	noSockets = "the list of all sockets grows with the machine: a waiter finds the command in its helper's own"
	oneList   = "a waiter lists those before it when it comes, and then watches the next of them"
	noCrowd   = "what a waiter does may not grow with the number of those who wait"
)

var limits = []limit{
	{"run local:", others, 115, ofStart},
	{"run local:", "openat", 9, ofFiles},
	{"run local:", "epoll_ctl", 10, ofFiles},
	{"run local:", "clone", 5, ofThreads},
	{"run local:", "futex", 130, ofSignals},
	{"run local:", faults, 200, ofStart},
	{"run flock:", others, 126, ofStart},
	{"run flock:", "openat", 10, ofFiles},
	{"run flock:", "clone", 5, ofThreads},
	{"run flock:", "futex", 130, ofSignals},
	{"run flock:", faults, 200, ofStart},
	{"run -F flock:", others, 34, ofStart},
	{"run -F flock:", "openat", 9, ofFiles},
	{"run -F flock:", "clone", -1, "it becomes the command, so it makes no threads in advance"},
	{"run -F flock:", "futex", 15, "it catches no signals"},
	{"run -F flock:", faults, 190, ofStart},
	{"run nfs:", others, 205, ofStart},
	{"run nfs:", "openat", 40, ofFiles + ", and the user's with the greatest token"},
	{"run nfs:", "getdents64", 4, "what is in a lock is listed twice, as backends/generation says"},
	{"run nfs:", "clone", 5, ofThreads},
	{"run nfs:", "futex", 180, ofSignals},
	{"run nfs:", faults, 235, ofStart},
	{"hold local:", others, 160, ofStart},
	{"hold local:", "openat", 13, ofFiles},
	{"hold local:", "clone", 6, ofThreads},
	{"hold local:", "futex", 110, ofSignals},
	{"hold local:", faults, 260, ofStart},
	{"a try", looks, 1, oneLook},
	{"a try", sockets, 0, noSockets},
	{"a quiet try", looks, 0, noLook},
	{"a quiet try", sockets, 0, noSockets},
	{"a wait that is told", looks, 8, "what is told has the name of the command in it, and is told more than once if the wait takes long"},
	{"a wait that is told", sockets, 0, noSockets},
	{"the first second among 5, local:", looks, 0, noLook},
	{"the first second among 5, local:", sockets, 0, noSockets},
	{"the first second among 5, local:", "openat", 10, noCrowd},
	{"the first second among 50, local:", looks, 0, noLook},
	{"the first second among 50, local:", sockets, 0, noSockets},
	{"the first second among 50, local:", "openat", 10, noCrowd},
	{"the first second among 50, flock:", looks, 0, noLook},
	{"the first second among 50, flock:", sockets, 0, noSockets},
	{"the first second among 5, nfs:", looks, 0, noLook},
	{"the first second among 5, nfs:", sockets, 0, noSockets},
	{"the first second among 5, nfs:", "openat", 44, noCrowd},
	{"the first second among 50, nfs:", looks, 0, noLook},
	{"the first second among 50, nfs:", sockets, 0, noSockets},
	{"the first second among 50, nfs:", "openat", 44, noCrowd},
	{"a turn among 5, nfs:", "openat", 80, noCrowd},
	{"a turn among 5, nfs:", listed, 1, oneList},
	{"a turn among 50, nfs:", "openat", 80, noCrowd},
	{"a turn among 50, nfs:", listed, 1, oneList},
}

// subjects are the programs that are counted. Those without behind have the lock to themselves.
var subjects = []struct {
	name   string
	argv   string
	behind int // how many hold the lock, or wait for it, before this one comes; of a turn, until it has come
	status int // of its end
}{
	{"run local:", "run local:{lock} -- /bin/true", 0, 0},
	{"run flock:", "run flock:{lock} -- /bin/true", 0, 0},
	{"run -F flock:", "run -F flock:{lock} -- /bin/true", 0, 0},
	{"run nfs:", "run nfs:{lock} -- /bin/true", 0, 0},
	{"hold local:", "hold local:{lock}", 0, 0},
	{"a try", "run -n local:{lock} -- /bin/true", 1, 75},
	{"a quiet try", "run -q -n -E 0 local:{lock} -- /bin/true", 1, 0},
	{"a wait that is told", "run -w 1.2 local:{lock} -- /bin/true", 1, 75},
	{"the first second among 5, local:", "run -q -w 0.9 local:{lock} -- /bin/true", 5, 75},
	{"the first second among 50, local:", "run -q -w 0.9 local:{lock} -- /bin/true", 50, 75},
	{"the first second among 50, flock:", "run -q -w 0.9 flock:{lock} -- /bin/true", 50, 75},
	{"the first second among 5, nfs:", "run -q -w 0.9 nfs:{lock} -- /bin/true", 5, 75},
	{"the first second among 50, nfs:", "run -q -w 0.9 nfs:{lock} -- /bin/true", 50, 75},
	{"a turn among 5, nfs:", "run -q nfs:{lock} -- /bin/true", 5, 0},
	{"a turn among 50, nfs:", "run -q nfs:{lock} -- /bin/true", 50, 0},
}

// How often a program is counted until all is within the limits; one that waits, whose counts hardly
// depend on threads; and, before, the bare program.
const mostRuns, mostWaits, bareRuns = 30, 3, 10

// TestCounts: what a run costs has not risen, by counts. Times say nothing on a machine that has
// other things to do. What servers are asked is counted by TestRoundTrips of sftp:, TestCosts of
// mkdirlock, for ftp:, and TestRequests of objects, for s3:.
func TestCounts(t *testing.T) {
	lab.NotShort(t, "starts programs some hundred times")
	lab.NeedProgram(t, "strace")
	b := newBench(t, nil)
	never := func(counts) bool { return false }
	alone := func() {}
	spawn := b.fewest(bareRuns, b.fill(words("{floor} /bin/true"), ""), 0, alone, never)
	idle := b.fewest(bareRuns, b.fill(words("{floor}"), ""), 0, alone, never)
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			b.TB = t
			lock := b.lock()
			argv := b.fill(append([]string{"{locksmith}"}, words(s.argv)...), lock)
			among := alone
			switch {
			case strings.HasPrefix(s.name, "a turn"):
				among = func() { go letGo(b.crowd(argv, s.behind), argv, lock, s.behind+1) }
			case s.behind > 0:
				b.Cleanup(b.crowd(argv, s.behind).LetGo)
			}
			bare := spawn
			if holds(argv) {
				bare = idle
			}
			runs := mostRuns
			if s.behind > 0 {
				runs = mostWaits
			}
			got := b.fewest(runs, argv, s.status, among, func(c counts) bool { return len(c.over(bare, s.name)) == 0 })
			t.Logf("over the bare spawn: %v", got.minus(bare))
			for _, line := range got.over(bare, s.name) {
				t.Error(line)
			}
		})
	}
}

// crowd has so many processes be there before, of which the first, which it returns, holds the lock and the
// others wait.
func (b *bench) crowd(argv []string, n int) (holder *lab.Process) {
	lock := argv[slices.Index(argv, "--")-1]
	holder = b.start(with(argv[:1], append([]string{"run", lock, "--"}, untilEOF...)...))
	holder.Expect("OK")
	q := &queue{bench: b}
	for range n - 1 {
		q.waiting = append(q.waiting, b.start(with(argv[:1], "run", "-q", lock, "--", "true")))
	}
	q.fallAsleep()
	return holder
}

// letGo has the holder of a lock of nfs: let go when so many have come for it, and one more behind them: the
// last in a queue looks less.
func letGo(holder *lab.Process, argv []string, lock string, come int) {
	wait := func(come int) {
		for range int(lab.Patience / (10 * time.Millisecond)) {
			if there, _ := filepath.Glob(filepath.Join(lock, "R", "x.*")); len(there) == come {
				return // else the test is slow, or sees that its limit is passed
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	wait(come)
	last := command(context.Background(), argv)
	if last.Start() == nil {
		wait(come + 1)
		defer last.Wait()
	}
	holder.LetGo()
}

// counts has how often something was done.
type counts map[string]int

func (c counts) minus(o counts) counts {
	left := counts{}
	for what, n := range c {
		if n != o[what] {
			left[what] = n - o[what]
		}
	}
	return left
}

// over says which limits of a subject were passed, and by how much.
func (c counts) over(bare counts, name string) (lines []string) {
	for _, l := range limits {
		if more := c[l.count] - bare[l.count]; l.of == name && more > l.most {
			lines = append(lines, fmt.Sprintf("%s: %d %s more than the bare spawn, %d more than may be (%s)", l.of, more, l.count, more-l.most, l.why))
		}
	}
	return lines
}

// fewest counts a program so often, or until enough says so. Each count is the least of all runs. before is
// called before each start of the program.
func (b *bench) fewest(runs int, argv []string, status int, before func(), enough func(counts) bool) counts {
	least := counts(nil)
	for range runs {
		before()
		c := b.traced(argv, status)
		before()
		c[faults] = int(b.ends(argv, status).SysUsage().(*syscall.Rusage).Minflt)
		if least == nil {
			least = c
		}
		for _, what := range slices.Collect(maps.Keys(least)) {
			least[what] = min(least[what], c[what])
		}
		if enough(least) {
			break
		}
	}
	return least
}

// holds reports whether a program says OK and stays until its input ends.
func holds(argv []string) bool { return !slices.Contains(argv, "/bin/true") }

// ends runs a program that must end with this status.
func (b *bench) ends(argv []string, status int) *os.ProcessState {
	b.Helper()
	if holds(argv) {
		p := b.start(argv)
		p.Expect("OK")
		p.LetGo()
		p.Exits(status)
		return p.Cmd.ProcessState
	}
	for tries := 1; ; tries++ {
		cmd := command(b.Context(), argv)
		said, err := cmd.CombinedOutput()
		switch {
		case cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == status:
			return cmd.ProcessState
		case cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != protocol.Unreachable.Exit() || tries == 10:
			b.Fatalf("%q: %v\n%s", cmd.Args, err, said)
		} // on a busy machine the time of one that waits may be over before it has tried
	}
}

var (
	call    = regexp.MustCompile(`(?m)^\d+ +(\w+)\((.*)$`)
	ofTasks = regexp.MustCompile(`"/proc/\d+/task"`)
	ofCrowd = regexp.MustCompile(`"R", O_RDONLY\|O_NOFOLLOW\|O_CLOEXEC\|O_DIRECTORY`) // and no O_PATH: it reads it
)

// traced runs a program under strace, with all that it starts.
func (b *bench) traced(argv []string, status int) counts {
	file := filepath.Join(b.dir, "trace")
	b.ends(append([]string{"strace", "-f", "-qq", "-o", file}, argv...), status)
	text, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	c := counts{}
	for _, found := range call.FindAllSubmatch(text, -1) {
		name, arguments := string(found[1]), found[2]
		c[name]++
		if !unsteady[name] {
			c[others]++
		}
		switch {
		case name != "openat":
		case bytes.Contains(arguments, []byte(`"/proc/net/unix"`)):
			c[sockets]++
		case ofTasks.Match(arguments):
			c[looks]++
		case ofCrowd.Match(arguments):
			c[listed]++
		}
	}
	return c
}
