//go:build linux

package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"locksmith/test/lab"
)

// A locker is another way to have the lock of flock:, as lines of a shell in which $0 is the
// path.
type locker struct {
	name  string
	probe string // as for a tool
	hold  string // has the lock, says held, and leaves it when its input ends
	try   string // exits with 0 if it gets the lock at once
	loop  string // runs "$@" under the lock
	// shared: others that share may have it, too.
	shared bool
	dir    bool // the path is a directory
}

const (
	stays  = `sh -c 'echo held; exec cat'`
	python = `/usr/bin/python3 -c 'import fcntl, subprocess, sys
f = open(sys.argv[1], "a+")
try: fcntl.flock(f, fcntl.LOCK_EX | (fcntl.LOCK_NB if sys.argv[2] == "try" else 0))
except BlockingIOError: sys.exit(1)
if sys.argv[2] == "hold": print("held", flush=True); sys.stdin.read()
if sys.argv[2] == "loop": sys.exit(subprocess.call(sys.argv[3:]))
'`
	perl = `perl -e 'use Fcntl ":flock"; $| = 1; my ($path, $verb, @argv) = @ARGV;
open F, ">>", $path or die; flock F, LOCK_EX | ($verb eq "try" ? LOCK_NB : 0) or exit 1;
if ($verb eq "hold") { print "held\n"; 1 while <STDIN> }
if ($verb eq "loop") { system(@argv) == 0 or exit 1 }'`
	php = `php -n -r '[$path, $verb] = array_slice($argv, 1); $f = fopen($path, "c");
if (!flock($f, LOCK_EX | ($verb == "try" ? LOCK_NB : 0))) exit(1);
if ($verb == "hold") { echo "held\n"; stream_get_contents(STDIN); }
if ($verb == "loop") { passthru(implode(" ", array_map("escapeshellarg", array_slice($argv, 3))), $status); exit($status); }' --`
)

// called returns a locker whose program is told hold, try or loop.
func called(name, probe, program string) locker {
	return locker{name: name, probe: probe, hold: "exec " + program + ` "$0" hold`, try: program + ` "$0" try`, loop: program + ` "$0" loop "$@"`}
}

// run returns a locker that runs commands under the lock. more has the options for a try that
// does not wait.
func run(name, program, more string) locker {
	return locker{name: name, probe: "command -v " + strings.Fields(program)[0], hold: "exec " + program + ` "$0" ` + stays, try: program + " " + more + ` "$0" true`, loop: program + ` "$0" "$@"`}
}

var lockers = []locker{
	run("flock FILE", "flock", "-n"),
	run("flock -o", "flock -o", "-n"),
	run("flock -F", "flock -F", "-n"),
	run("flock -w 60", "flock -w 60", "-n"),
	{name: "flock -c", probe: "command -v flock", hold: `exec flock "$0" -c "` + stays + `"`, try: `flock -n "$0" -c true`, loop: `flock "$0" -c "$*"`},
	{name: "flock DIRECTORY", probe: "command -v flock", dir: true, hold: `exec flock "$0" ` + stays, try: `flock -n "$0" true`, loop: `flock "$0" "$@"`},
	{name: "flock FD", probe: "command -v flock", hold: `exec 9>>"$0"; flock 9; ` + stays, try: `exec 9>>"$0"; flock -n 9`, loop: `exec 9>>"$0"; flock 9; "$@"`},
	{name: "exec 9>FILE, flock FD", probe: "command -v flock", hold: `exec 9>"$0"; flock 9; ` + stays, try: `exec 9>"$0"; flock -n 9`, loop: `exec 9>"$0"; flock 9; "$@"`},
	{name: "flock -s", probe: "command -v flock", shared: true, hold: `exec flock -s "$0" ` + stays, try: `flock -s -n "$0" true`},
	run("setlock", "setlock", "-n"),
	called("Perl", "command -v perl", perl),
	called("Python", "/usr/bin/python3 -c ''", python),
	called("PHP", "command -v php", php),
}

// flockCell is a locker at work.
type flockCell struct {
	*testing.T
	locker
	path string
}

func newFlockCell(t *testing.T, l locker) flockCell {
	t.Helper()
	lab.NotShort(t, "other people's programs take seconds")
	if exec.Command("sh", "-c", l.probe).Run() != nil {
		t.Fatalf("%s is not installed", l.name)
	}
	c := flockCell{t, l, filepath.Join(t.TempDir(), "lock")}
	if l.dir {
		mustWork(t, os.Mkdir(c.path, 0o755))
	}
	return c
}

func (c flockCell) address() string { return "flock:" + c.path }

func (c flockCell) shell(line string, argv ...string) *exec.Cmd {
	return exec.Command("sh", append([]string{"-c", line, c.path}, argv...)...)
}

// theirs and ours hold the lock, or wait for it.
func (c flockCell) theirs() holder {
	c.Helper()
	return holder{lab.Start(c.T, c.shell(c.hold))}
}

func (c flockCell) ours(flags ...string) holder {
	c.Helper()
	return holder{lab.Start(c.T, c.run(append(flags, c.address(), "--", "sh", "-c", "echo held; exec cat")...))}
}

func (c flockCell) run(args ...string) *exec.Cmd {
	return locksmith(c.T, append([]string{"run"}, args...)...)
}

// weGet and theyGet report whether locksmith, or the locker, gets the lock at once.
func (c flockCell) weGet(flags ...string) bool {
	c.Helper()
	status, said := lab.Run(c.T, c.run(append(flags, "-n", c.address(), "--", "true")...))
	if status != 0 && status != held {
		c.Fatalf("locksmith tries the lock: exit status %d, want 0, or 75 if it is held\n%s", status, said)
	}
	return status == 0
}

func (c flockCell) theyGet() bool {
	c.Helper()
	status, _ := lab.Run(c.T, c.shell(c.try))
	return status == 0
}

// mustGet makes sure who gets the lock, and who does not.
func (c flockCell) mustGet(what string, we, they bool) {
	c.Helper()
	if got := c.weGet(); got != we {
		c.Errorf("%s: locksmith gets the lock: %t", what, got)
	}
	if got := c.theyGet(); got != they {
		c.Errorf("%s: the other tool gets the lock: %t", what, got)
	}
}

// ways are the two ways to hold a lock of ours: run that becomes its command, and run that
// stays.
var ways = map[string][]string{"become": {"-F"}, "stay": nil}

// TestFlock: each tool that locks with flock(2) excludes us and is excluded, whoever dies or is
// stopped.
func TestFlock(t *testing.T) {
	t.Parallel()
	for _, l := range lockers {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			c := newFlockCell(t, l)
			c.excludesUs()
			for name, flags := range ways {
				t.Run(name, func(t *testing.T) {
					c := c
					c.T = t
					c.isExcluded(flags)
				})
			}
			if c.loop != "" {
				c.takesTurns()
			}
		})
	}
}

// excludesUs: a holder of theirs lives, is stopped, is killed.
func (c flockCell) excludesUs() {
	h := c.theirs().held()
	c.mustGet("they hold it", false, c.shared)
	if got := c.weGet("-s"); got != c.shared {
		c.Errorf("locksmith shares a lock of theirs: %t", got)
	}
	waiter := c.ours()
	waiter.waits()
	h.Stop()
	c.mustGet("it is stopped", false, c.shared)
	waiter.waits()
	h.Cont()
	h.leave()
	waiter.held().leave()
	c.mustGet("all have left", true, true)
}

// isExcluded: a holder of ours lives, is stopped, is killed; and so is a waiter of ours.
func (c flockCell) isExcluded(flags []string) {
	h := c.ours(flags...).held()
	c.mustGet("we hold it", false, false)
	waiter := c.theirs()
	waiter.waits()
	h.Stop()
	c.mustGet("ours is stopped", false, false)
	h.Cont()
	h.leave()
	waiter.held().leave()
	h = c.ours(flags...).held()
	killed := c.ours(flags...)
	killed.waits()
	killed.Kill()
	h.Kill() // its command dies with it
	lab.Eventually(c.T, "the lock of the dead one is free", c.theyGet)
	c.mustGet("ours was killed", true, true)
}

// takesTurns: nobody has the lock beside another.
func (c flockCell) takesTurns() {
	book := filepath.Join(c.TempDir(), "book")
	witness := func(who string) []string {
		return []string{lab.Program(c.T, "test/lab/contest/witness"), book, who, work}
	}
	var wg sync.WaitGroup
	for i := range each {
		wg.Go(func() {
			for range rounds {
				way := []string{c.address(), "--"}
				if i == 0 {
					way = append([]string{"-o"}, way...)
				}
				if out, err := c.run(append(way, witness("ours")...)...).CombinedOutput(); err != nil {
					c.Errorf("ours: %v\n%s", err, out)
				}
			}
		})
		wg.Go(func() {
			for range rounds {
				if out, err := c.shell(c.loop, witness("theirs")...).CombinedOutput(); err != nil {
					c.Errorf("theirs: %v\n%s", err, out)
				}
			}
		})
	}
	wg.Wait()
	h := readHistory(c.T, book)
	h.check(c.T)
	if ours, theirs := h.turns("ours"), h.turns("theirs"); ours != each*rounds || theirs != each*rounds {
		c.Errorf("%d turns of ours and %d of theirs, want %d of each", ours, theirs, each*rounds)
	}
}

// TestFlockFile: the file changes while it is locked. If it is emptied or filled it is the same
// lock. If it is renamed, replaced or removed, those who have its lock keep it, and newcomers do
// not meet it.
func TestFlockFile(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]struct {
		do   string
		same bool // as before, to newcomers
	}{
		"emptied":  {`: >"$0"`, true},
		"filled":   {`echo data >>"$0"`, true},
		"renamed":  {`mv "$0" "$0.old"`, false},
		"removed":  {`rm "$0"`, false},
		"replaced": {`echo new >"$0.new"; mv "$0.new" "$0"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newFlockCell(t, lockers[0])
			h := c.ours("--refresh", "1s").held()
			waiter := c.ours()
			lab.Eventually(t, "it waits for that file", func() bool {
				_, said := lab.Run(t, locksmith(t, "status", c.address()))
				return strings.Contains(said, "waiting: at least 1")
			})
			if out, err := c.shell(change.do).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			free := !change.same
			c.mustGet("changed", free, free)
			if free {
				lab.Eventually(t, "run tells", func() bool { return strings.Contains(h.Stderr(), "the command goes on under the lock of a file") })
			}
			waiter.waits() // behind the holder of the old file
			h.LetGo()
			h.Rest()
			h.Exits(map[bool]int{true: lost}[free])
			waiter.held()
			c.mustGet("the waiter has it", false, false)
			waiter.leave()

			// A helper without a command loses the lock then.
			helper := lab.Start(t, locksmith(t, "hold", "--refresh", "1s", c.address()))
			helper.Expect("OK ")
			if out, err := c.shell(change.do).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if free {
				helper.Expect("LOST code=gone")
				helper.Exits(lost)
				return
			}
			c.mustGet("a helper holds it", false, false)
			helper.LetGo()
			helper.Rest()
			helper.Exits(0)
		})
	}
}

// selfLocking is the script of flock(1)'s manual, with locksmith.
const selfLocking = `#!/bin/sh
[ "$FLOCKER" = "$0" ] || exec env FLOCKER="$0" locksmith run -n -q "flock:$0" -- "$0" "$@"
echo held
exec cat
`

// TestSelfLocking: a script that locks itself runs once at a time, also beside flock(1), and
// also under an outer lock of another kind. Its text stays as it is.
func TestSelfLocking(t *testing.T) {
	t.Parallel()
	c := newFlockCell(t, lockers[0])
	program := lab.Program(t, "cmd/locksmith")
	script := strings.Replace(selfLocking, "locksmith", program, 1)
	mustWork(t, os.WriteFile(c.path, []byte(script), 0o755))
	for name, outer := range map[string][]string{
		"alone":      {},
		"under one":  {program, "run", "local:" + c.path + ".lock", "--"},
		"under both": {program, "run", "flock:" + c.path + ".outer", "--"},
	} {
		argv := append(outer, c.path)
		h := holder{lab.Start(t, exec.Command(argv[0], argv[1:]...))}.held()
		c.mustGet(name, false, false)
		if status, said := lab.Run(t, exec.Command(c.path)); status != held || said != "" {
			t.Errorf("%s: a second run of the script: exit status %d, want 75: %s", name, status, said)
		}
		h.leave()
	}
	if text, err := os.ReadFile(c.path); err != nil || string(text) != script {
		t.Errorf("the script was changed: %q, %v", text, err)
	}
}

// TestOtherKernelLock: s6-setlock, lckdo and flock --fcntl take locks of fcntl(2), which do not exclude
// ours, nor ours them. Whoever looks at the lock or gets it is told so, and the file is left alone.
func TestOtherKernelLock(t *testing.T) {
	t.Parallel()
	for _, l := range []locker{run("s6-setlock", "s6-setlock", "-n"), run("lckdo", "lckdo", "")} {
		t.Run(l.name, func(t *testing.T) { newFlockCell(t, l).isBeside() })
	}
}

func (c flockCell) isBeside() {
	t, h := c.T, c.theirs().held()
	const told = "has the file locked by fcntl(2)"
	for _, args := range [][]string{{"status", c.address()}, {"doctor", c.address()}, {"run", "-n", c.address(), "--", "true"}} {
		if status, said := lab.Run(t, locksmith(t, args...)); status != 0 || !strings.Contains(said, told) {
			t.Errorf("%s beside %s: exit status %d, want 0 and %q\n%s", args[0], c.name, status, told, said)
		}
	}
	if text, err := os.ReadFile(c.path); err != nil || len(text) > 0 {
		t.Errorf("the file of %s holds %q, %v, want nothing", c.name, text, err)
	}
	if status, said := lab.Run(t, c.run("--fcntl", c.address(), "--", "true")); status != 64 || !strings.Contains(said, "a kind of lock that only flock(1) has") {
		t.Errorf("--fcntl: exit status %d\n%s", status, said)
	}
	h.leave()
}

// TestLeftBehind: after a kill -9 of run, what its command left keeps the lock, as with flock(1).
// Without -o what the command left keeps it also when all ends in good order.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	for name, flags := range ways {
		t.Run(name, func(t *testing.T) {
			c := newFlockCell(t, lockers[0])
			h := lab.Start(t, c.run(append(flags, c.address(), "--", "sh", "-c", "sleep 300 >/dev/null 2>&1 & echo $!; exec cat")...))
			left, err := strconv.Atoi(h.Line())
			mustWork(t, err)
			h.Kill()
			c.mustGet("its child lives", false, false)
			status, said := lab.Run(t, locksmith(t, "status", c.address()))
			if status != 0 || !strings.Contains(said, "pid "+strconv.Itoa(left)+" (sleep), left behind, keeps it") {
				t.Errorf("status: %d\n%s", status, said)
			}
			mustWork(t, syscall.Kill(left, syscall.SIGKILL))
			lab.Eventually(t, "the lock is free", c.theyGet)
		})
	}
}
