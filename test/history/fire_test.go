//go:build unix

package history

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"locksmith/backends/clock"
	"locksmith/test/lab"
	"locksmith/test/lab/holds"
)

var updateRivals = flag.Bool("update", false, "write what was measured of others' locks to the page")

const (
	rivalsPage   = "README.md"
	rivalsTitle  = "Others in the same fire"
	rivalsCrowd  = 3                      // contenders for each lock
	rivalsRounds = 3                      // of each harm
	shortWork    = 20 * time.Millisecond  // of who comes to no harm
	longWork     = 16 * time.Second       // of who does
	pauseTime    = 14 * time.Second       // longer than most rivals believe one that is silent
	harmAfter    = 500 * time.Millisecond // of the work
)

// A harm is done to a worker, to the program that has the lock for it, or to both.
type harm struct {
	name           string
	keeper, worker syscall.Signal // 0: none
}

var harms = []harm{
	{"worker killed", 0, syscall.SIGKILL},
	{"keeper killed", syscall.SIGKILL, 0},
	{"both killed", syscall.SIGKILL, syscall.SIGKILL},
	{"keeper stopped", syscall.SIGSTOP, 0},
	{"both stopped", syscall.SIGSTOP, syscall.SIGSTOP},
}

// A fire is one rival's lock with its contenders, and what became of them.
type fire struct {
	t       *testing.T
	ground  ground
	argv    []string // before the worker
	dir     string   // of the lock alone
	log     string
	program string

	mu      sync.Mutex
	todo    []harm
	rounds  int
	harmed  map[string]string        // the name of the harm, by worker
	died    map[string]time.Duration // when workers were seen to be gone, by name
	working map[string]int           // pids, by name
	stuck   []time.Duration
}

// TestRivals: the same processes do the same work under our locks and under others', and come to
// the same harm. What becomes of each rival is a row of the page. None of our locks may be stuck.
// No two workers may be inside one of our locks, unless the helper of one of them was stopped;
// that worker is then told.
func TestRivals(t *testing.T) {
	if !*long {
		t.Skip("takes fifteen minutes: only with -long")
	}
	rows := make([]string, len(rivals()))
	t.Run("all", func(t *testing.T) {
		for i, r := range rivals() {
			t.Run(r.name, func(t *testing.T) {
				r.need(t)
				t.Parallel()
				rows[i] = r.burn(t, thisMachine{})
			})
		}
	})
	if t.Failed() || slices.Contains(rows, "") || !*updateRivals {
		return // by whom locks are overlapped is another matter in each run
	}
	lab.Publish(t, rivalsPage, rivalsTitle, fmt.Sprintf(rivalsText, time.Now().Format("2 January 2006"), rivalsCrowd, rivalsRounds, len(harms), harmAfter, pauseTime, thisMachine{}.patience())+strings.Join(rows, ""), true)
}

// TestRivalsPage: the page has each rival.
func TestRivalsPage(t *testing.T) {
	text, err := os.ReadFile(rivalsPage)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rivals() {
		if !strings.Contains(string(text), "\n| "+r.name+" | ") {
			t.Errorf("%s has no row of %s", rivalsPage, r.name)
		}
	}
}

const rivalsText = `Written on %s by ` + "`" + `go test ./test/history -run TestRivals -long -update -timeout 1h` + "`" + `, on a local
disk. %d contenders for each lock start the program with a command, the worker, again and again. Each of
%[4]d harms comes to one of them %[3]d times, %[5]v after its worker began: kill -9 of the worker, of what has
the lock for it (the keeper), or of both; or a stop of the keeper, or of both, for %[6]v, and then SIGCONT.
The worker would work for 16 s then. An overlap is that a worker began before the one before had ended,
had been told to end, or had been killed; of one that the test did not kill, the last look at it counts as its end.
*Not told* are those of them that worked to their end all the same. *Stuck* is a lock that nobody got for %[7]v
while nobody was inside; then the test removed all its files. The longest wait is from the end of a worker to the
beginning of the next one; the pauses between two tries, and a busy machine, are in it.

Ours but ` + "`local:` and `flock:`" + ` overlap where the keeper was stopped for longer than its lease of 8 s, as [README](../../README.md#what-is-promised)
says, and the worker was told when the keeper ran again. flufl.lock believes one that is silent for its lifetime
and 10 s, here 18 s, and dotlockfile for 5 minutes: they would overlap after longer stops than those here.
[Below](#others-in-the-same-fire-over-nfs) are those that are meant for NFS, over NFS.

| lock | holds | harmed | overlaps, and the longest | by what | not told | stuck | longest wait |
| --- | --- | --- | --- | --- | --- | --- | --- |
`

func (r rival) burn(t *testing.T, on ground) string {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, seen := on.place(t)
	f := &fire{t: t, ground: on, dir: dir, program: program, harmed: map[string]string{}, died: map[string]time.Duration{}, working: map[string]int{}}
	f.log = filepath.Join(t.TempDir(), "log")
	f.argv = r.fill(t, filepath.Join(seen, "lock"))
	for range rivalsRounds {
		f.todo = append(f.todo, harms...)
	}
	rand.Shuffle(len(f.todo), func(i, j int) { f.todo[i], f.todo[j] = f.todo[j], f.todo[i] })
	over := make(chan struct{})
	var operator, crowd sync.WaitGroup
	operator.Go(func() { f.operate(over) })
	for n := range rivalsCrowd {
		crowd.Go(func() { f.contend(n) })
	}
	crowd.Wait()
	close(over)
	operator.Wait()
	return f.row(r)
}

// contend takes the lock again and again, as contender n, until all harms were done.
func (f *fire) contend(n int) {
	for {
		h, name, more := f.next()
		if !more {
			return
		}
		f.round(n, h, name)
	}
}

// next returns the next worker's name, and for one in three a harm that comes to it.
func (f *fire) next() (h harm, name string, more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.todo) == 0 {
		return harm{}, "", false
	}
	f.rounds++
	name = fmt.Sprintf("w%d", f.rounds)
	if rand.IntN(3) == 0 {
		h, f.todo = f.todo[0], f.todo[1:]
		f.harmed[name] = h.name
	}
	return h, name, true
}

// round is the time of one worker, from the start of its keeper to the end of both.
func (f *fire) round(n int, h harm, name string) {
	d := shortWork
	if h.name != "" {
		d = longWork
	}
	cmd := f.ground.command(n, append(f.argv[:len(f.argv):len(f.argv)], f.program)...)
	cmd.Dir = f.dir
	cmd.Env = append(os.Environ(), lab.RoleVariable+"="+roleWorker, workLog+"="+f.log, workName+"="+name, workTime+"="+d.String())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		f.t.Error(err)
		return
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	keeper, pid := f.ground.find(cmd.Process.Pid, f.await(name, ended))
	if pid != 0 && h.name != "" {
		f.harm(h, name, cmd.Process.Pid, keeper, pid)
	}
	alive := clock.Boot{}.Now()
	for seen := alive; pid != 0 && !gone(pid); time.Sleep(5 * time.Millisecond) {
		alive, seen = seen, clock.Boot{}.Now()
	}
	f.end(name, alive) // the time when the worker was last seen, so that the recorded time is not longer than the real one
	select {
	case <-ended:
	case <-time.After(f.ground.patience()):
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	}
}

// await waits until a worker has begun, and returns its pid as the worker itself sees it. It
// returns 0 if the keeper has ended without a worker.
func (f *fire) await(name string, ended <-chan struct{}) int {
	for over := false; ; time.Sleep(5 * time.Millisecond) {
		for _, n := range notes(f.t, f.log) {
			if n.name == name {
				f.mu.Lock()
				f.working[name] = n.pid
				f.mu.Unlock()
				return n.pid
			}
		}
		if over {
			return 0
		}
		select {
		case <-ended:
			over = true // after one more look
		default:
		}
	}
}

// harm harms a worker and its keeper. The started process, which may be the keeper itself, stops
// when the keeper stops, and is continued with it.
func (f *fire) harm(h harm, name string, started, keeper, worker int) {
	time.Sleep(harmAfter)
	if h.worker == syscall.SIGKILL {
		f.end(name, clock.Boot{}.Now()) // whatever the worker may do from now on does not count
	}
	send := func(pid int, s syscall.Signal) {
		if s != 0 {
			_ = syscall.Kill(pid, s)
		}
	}
	send(keeper, h.keeper)
	send(worker, h.worker)
	if h.keeper != syscall.SIGSTOP {
		return
	}
	time.Sleep(pauseTime)
	send(keeper, syscall.SIGCONT)
	send(started, syscall.SIGCONT)
	if h.worker != 0 {
		send(worker, syscall.SIGCONT)
	}
}

// end notes when a worker ended, or is about to be killed.
func (f *fire) end(name string, at time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.died[name]; !known {
		f.died[name] = at
	}
	delete(f.working, name)
}

// operate clears the lock's place away when nobody has got the lock for long.
func (f *fire) operate(over <-chan struct{}) {
	seen, since := 0, time.Now()
	for {
		select {
		case <-over:
			return
		case <-time.After(200 * time.Millisecond):
		}
		f.mu.Lock()
		inside := len(f.working)
		f.mu.Unlock()
		if n := len(notes(f.t, f.log)); inside > 0 || n != seen {
			seen, since = n, time.Now()
		}
		if waited := time.Since(since); waited > f.ground.patience() {
			clearAway(f.dir)
			f.mu.Lock()
			f.stuck = append(f.stuck, waited)
			f.mu.Unlock()
			since = time.Now()
		}
	}
}

// row judges the fire, and returns its row of the page.
func (f *fire) row(r rival) string {
	all, how := f.history()
	overlaps, untold, longest := 0, 0, time.Duration(0)
	by := map[string]int{}
	for i, a := range all {
		for _, b := range all[i+1:] {
			if b.Start >= a.End {
				continue
			}
			overlaps++
			longest = max(longest, min(a.End, b.End)-b.Start)
			by[f.harmed[a.Who]]++
			if how[a.Who] == wordGive {
				untold++
			}
		}
	}
	if n := holds.Together(all); n != overlaps {
		f.t.Errorf("%s: %d overlaps, and by another count %d", r.name, overlaps, n)
	}
	var causes []string
	for cause, n := range by {
		causes = append(causes, fmt.Sprintf("%s %d", cause, n))
		if strings.HasPrefix(r.name, "locksmith") && !strings.HasSuffix(cause, "stopped") {
			f.t.Errorf("%s: %d overlaps by %q", r.name, n, cause)
		}
	}
	slices.Sort(causes)
	if strings.HasPrefix(r.name, "locksmith") && (len(f.stuck) > 0 || untold > 0) {
		f.t.Errorf("%s was stuck: %v; and %d were not told of their loss", r.name, f.stuck, untold)
	}
	over := "0"
	if overlaps > 0 {
		over = fmt.Sprintf("%d, %.1f s", overlaps, longest.Seconds())
	}
	return fmt.Sprintf("| %s | %d | %d | %s | %s | %d | %d | %s |\n", r.name, len(all), len(f.harmed), over, strings.Join(causes, ", "), untold, len(f.stuck), f.wait(all))
}

// history returns when workers were inside, and how each ended.
func (f *fire) history() (all []holds.Hold, how map[string]string) {
	how = map[string]string{}
	ends := map[string]time.Duration{}
	noted := notes(f.t, f.log)
	for _, n := range noted {
		if n.word != wordTake {
			how[n.name], ends[n.name] = n.word, n.at
		}
	}
	for _, n := range noted {
		if n.word != wordTake {
			continue
		}
		end, told := ends[n.name]
		if !told {
			end = f.died[n.name]
		}
		all = append(all, holds.Hold{Who: n.name, Start: n.at, End: end})
	}
	holds.Sort(all)
	return all, how
}

// wait returns the longest time between the end of one worker and the beginning of the next.
func (f *fire) wait(all []holds.Hold) string {
	var longest, free time.Duration
	for i, h := range all {
		if i > 0 {
			longest = max(longest, h.Start-free)
		}
		free = max(free, h.End)
	}
	return fmt.Sprintf("%.1f s", longest.Seconds())
}
