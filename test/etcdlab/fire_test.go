//go:build linux

package etcdlab

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"locksmith/backends/clock"
	"locksmith/protocol"
	"locksmith/test/etcdserver"
	"locksmith/test/lab"
	"locksmith/test/lab/contest"
	"locksmith/test/lab/holds"
)

var (
	long      = flag.Bool("long", false, "leave nothing out that takes long: 2,000 holds, 300 kills and an hour")
	someHolds = flag.Int("holds", 400, "how many holds there shall be in the fire")
	least     = flag.Duration("for", 0, "for how long the fire burns at least")
)

func TestMain(m *testing.M) { lab.Main(m, nil) }

const (
	exclusive, shared = "exclusive", "shared"

	crowd   = 8
	harms   = 4 // three of them kill, and one stops
	lease   = 4 * time.Second
	stopped = 2 * lease       // is how long somebody is stopped: for longer than the lease, and than a new leader's first
	away    = 5 * time.Second // is how long a member is away: a new leader is there by then
)

// A mishap comes to a cluster, and is then undone.
type mishap struct {
	name    string
	do, end func(*fire)
	did     func(*fire) bool // whether it can be seen
}

// mishaps are those that come, one after the other. They say who is the leader when they come.
func mishaps() []mishap {
	lonely := func(f *fire) bool { return !f.KnowsLeader(f.victim) }
	one := func(name string, leader bool, do, end func(*etcdserver.Cluster, int)) mishap {
		return mishap{name: name, do: func(f *fire) {
			if f.victim = max(f.Leader(), 0); !leader {
				f.victim = (f.victim + 1) % f.Nodes()
			}
			do(f.Cluster, f.victim)
		}, end: func(f *fire) { end(f.Cluster, f.victim) }, did: lonely}
	}
	type of = *etcdserver.Cluster
	both := func(f *fire, what func(of, int)) {
		what(f.Cluster, f.victim)
		what(f.Cluster, (f.victim+1)%f.Nodes())
	}
	return []mishap{
		one("leader killed", true, of.Kill, of.Restart),
		one("leader stopped", true, of.Stop, of.Cont),
		one("leader cut off", true, of.Cut, of.Join),
		one("follower killed", false, of.Kill, of.Restart),
		one("follower stopped", false, of.Stop, of.Cont),
		one("follower cut off", false, of.Cut, of.Join),
		{name: "two killed", do: func(f *fire) { f.victim = rand.IntN(f.Nodes()); both(f, of.Kill) }, end: func(f *fire) { both(f, of.Restart) }, did: lonely},
		{name: "disk full", do: func(f *fire) { f.fill(0) }, end: func(f *fire) { f.empty(0) }, did: lonely},
	}
}

// A fire is a lock at a cluster, with who contends for it and what came to them.
type fire struct {
	*etcdserver.Cluster
	t      *testing.T
	victim int // of the mishap, a member
	disk   string

	ours, theirs tally
}

// A tally is what became of the contenders of one kind of lock.
type tally struct {
	log                          *contest.Log
	ended, killed, stopped       atomic.Int32
	told, untold, early, expired atomic.Int32 // losses
	gaveUp                       atomic.Int32
	names                        atomic.Int32
	longest                      atomic.Int64 // from a start to an end that was not harmed
}

// TestFire: contenders and members come to harm, and the lock keeps its promises.
func TestFire(t *testing.T) {
	lab.NotShort(t, "starts clusters of etcd")
	wantHolds, wantKills, wantTime := int32(*someHolds), int32(1), *least
	if *long {
		wantHolds, wantKills, wantTime = max(wantHolds, 2000), 300, max(wantTime, time.Hour)
	}
	dir, disk := t.TempDir(), ""
	if os.Getuid() == 0 {
		disk = filepath.Join(dir, "0")
		if said, err := exec.Command("sh", "-c", "mkdir "+disk+" && mount -t tmpfs -o size=400m none "+disk).CombinedOutput(); err != nil {
			t.Logf("no disk is full in this run: %v %s", err, said)
			disk = ""
		} else {
			t.Cleanup(func() { _ = exec.Command("umount", "--lazy", disk).Run() })
		}
	}
	f := &fire{t: t, disk: disk, Cluster: etcdserver.Start(t, etcdserver.Options{Nodes: 3, Dir: dir, Flags: []string{"--snapshot-count", "2000"}})}
	f.ours.log, f.theirs.log = contest.NewLog(t), contest.NewLog(t)
	etcdctl, _ := exec.LookPath("etcdctl")
	begin, over := time.Now(), make(chan struct{})
	var all sync.WaitGroup
	for range crowd {
		all.Go(func() { f.contend(over, &f.ours, f.run) })
	}
	for range crowd / 2 {
		if etcdctl != "" {
			all.Go(func() { f.contend(over, &f.theirs, f.rival) })
		}
	}
	stop := sync.OnceFunc(func() { close(over); all.Wait() })
	defer stop()
	came := map[string]int{}
	for n := 0; f.ours.ended.Load() < wantHolds || f.ours.killed.Load() < wantKills || time.Since(begin) < wantTime || n < len(mishaps()); n++ {
		m := mishaps()[n%len(mishaps())]
		if m.name == "disk full" && f.disk == "" {
			continue
		}
		for i := range f.Nodes() { // one whose disk was full may have ended after that
			if !f.Runs(i) {
				f.Restart(i)
				f.Await()
			}
		}
		m.do(f)
		time.Sleep(away)
		if m.did(f) {
			came[m.name]++
		}
		m.end(f)
		f.Await()
		f.more(5) // between two of them, the lock goes on
	}
	stop()
	for _, m := range mishaps() {
		if came[m.name] == 0 && (m.name != "disk full" || f.disk != "") {
			t.Errorf("%s: nothing was seen of it", m.name)
		}
	}
	f.judge(time.Since(begin), came)
}

// fill fills the disk of a member, and writes until the member needs more of it, or has ended.
func (f *fire) fill(i int) {
	f.victim = i
	_ = exec.Command("dd", "if=/dev/zero", "of="+filepath.Join(f.disk, "full"), "bs=1M").Run() // until it is full
	for n, value := 0, strings.Repeat("x", 1_000_000); n < 200 && f.Runs(i); n++ {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_, _ = f.Client().Put(ctx, "filler", value)
		cancel()
	}
}

// empty makes space there again, and lets all members use again what was filled.
func (f *fire) empty(i int) {
	_ = os.Remove(filepath.Join(f.disk, "full"))
	if !f.Runs(i) {
		f.Restart(i)
	}
	f.Await()
	r, err := f.Client().Put(context.Background(), "filler", "")
	if err == nil {
		_, err = f.Client().Compact(context.Background(), r.Header.Revision)
	}
	if err != nil {
		f.t.Error(err)
	}
}

// more waits until some more of ours have had the lock.
func (f *fire) more(n int32) {
	f.t.Helper()
	enough := f.ours.ended.Load() + n
	lab.Eventually(f.t, "some more have had the lock", func() bool { return f.ours.ended.Load() >= enough }, f.Said)
}

// run is a contender with our lock, and rival one with etcdctl's.
func (f *fire) run(mode string, argv []string) *exec.Cmd {
	return locksmith(f.t, append([]string{"run", "--shared=" + fmt.Sprint(mode == shared), "--lease", lease.String(), "--timeout", "3m", "--release-timeout", "20s", f.Address("locks/fire"), "--"}, argv...)...)
}

func (f *fire) rival(mode string, argv []string) *exec.Cmd {
	return exec.Command("etcdctl", append([]string{"--endpoints", f.Hosts(), "lock", "--ttl", fmt.Sprint(int(lease.Seconds())), "rival"}, argv...)...)
}

// contend takes the lock again and again.
func (f *fire) contend(over <-chan struct{}, c *tally, command func(string, []string) *exec.Cmd) {
	for {
		select {
		case <-over:
			return
		default:
			f.round(c, command)
		}
	}
}

// round is one contender, which perhaps comes to harm.
func (f *fire) round(c *tally, command func(string, []string) *exec.Cmd) {
	number := int(c.names.Add(1))
	harm := rand.IntN(24)
	if c == &f.theirs { // who wait for longer
		harm = rand.IntN(8)
	}
	work := rand.N(20 * time.Millisecond)
	if harm < harms {
		work = rand.N(time.Second)
	}
	mode := exclusive
	if c == &f.ours && rand.IntN(3) == 0 { // etcdctl has no shared locks
		mode, work = shared, work+rand.N(100*time.Millisecond) // so that others come meanwhile
	}
	cmd := command(mode, contest.Witness(f.t, c.log, mode, work))
	cmd.Env = append(os.Environ(), fmt.Sprintf("WITNESS_NAME=%d", number))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// Not by package lab, which keeps files of each process until the test ends: there are thousands.
	var out bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &out, time.Second
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		f.t.Error(err)
		return
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	held, group := false, -cmd.Process.Pid
	switch harm {
	case 0, 1, 2:
		after(ended, rand.N(400*time.Millisecond))
		c.log.Killed(f.t, number)
		_ = cmd.Process.Kill()
		c.killed.Add(1)
	case 3:
		after(ended, rand.N(2*time.Second))
		_ = syscall.Kill(group, syscall.SIGSTOP)
		held = has(f.t, c.log, number)
		c.log.Killed(f.t, number)
		time.Sleep(stopped)
		_ = syscall.Kill(group, syscall.SIGCONT)
		c.stopped.Add(1)
	}
	<-ended // they have their own bounds
	status, said := cmd.ProcessState.ExitCode(), out.String()
	lost := status == protocol.Gone.Exit()
	switch {
	case held && (lost || status != 0):
		c.told.Add(1)
	case held:
		c.untold.Add(1)
	case harm < harms:
	case status == 0:
		c.ended.Add(1)
		c.longest.Store(max(c.longest.Load(), int64(time.Since(begin))))
	case lost && strings.Contains(said, "no longer there"):
		c.early.Add(1)
		f.t.Logf("%d was told that its key was gone: %s", number, said)
	case lost:
		c.expired.Add(1)
	case c == &f.theirs || slices.Contains([]int{protocol.Unreachable.Exit(), protocol.Timeout.Exit()}, status) || strings.Contains(said, "too slow for the lease"):
		c.gaveUp.Add(1)
	default:
		f.t.Errorf("a contender that came to no harm ends with %d: %s", status, said)
	}
}

// after waits for a while, or until a process has ended.
func after(ended <-chan struct{}, d time.Duration) {
	select {
	case <-ended:
	case <-time.After(d):
	}
}

// has reports whether a witness has begun and not ended.
func has(t *testing.T, l *contest.Log, number int) bool {
	t.Helper()
	text, err := os.ReadFile(l.File)
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
	inside := false
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 2 && f[2] == fmt.Sprint(number) {
			inside = f[0] == "take"
		}
	}
	return inside
}

// judge checks the histories, and says what became of everybody.
func (f *fire) judge(took time.Duration, came map[string]int) {
	f.t.Helper()
	r := f.ours.log.Check(f.t, true)
	if n := overlaps(r.Held); n > 0 && f.ours.early.Load() == 0 {
		f.t.Errorf("%d times two of ours were inside, and the cluster revoked no lease early", n)
	}
	if n := f.ours.untold.Load(); n > 0 {
		f.t.Errorf("%d of ours were stopped for longer than their lease, and not told", n)
	}
	lab.Eventually(f.t, "nothing is left", func() bool { return len(f.left()) == 0 }, func() string { return strings.Join(f.left(), " ") })
	f.t.Logf("in %v: %v", took.Round(time.Second), came)
	f.t.Log(f.ours.row("locksmith", r, len(f.left())))
	if f.theirs.names.Load() > 0 {
		f.t.Log(f.theirs.row("etcdctl lock", f.theirs.log.Read(f.t), len(f.Keys(f.t, "rival/"))))
	}
}

// overlaps counts the pairs that had the lock together, though one of them had it alone.
func overlaps(all []holds.Hold) int { return holds.Together(all) - holds.Together(sharing(all)) }

func sharing(all []holds.Hold) []holds.Hold {
	return slices.DeleteFunc(slices.Clone(all), func(h holds.Hold) bool { return !h.Shared })
}

// left is what must not stay of the lock.
func (f *fire) left() []string {
	return slices.DeleteFunc(f.Keys(f.t, "locks/fire/"), func(key string) bool { return strings.HasPrefix(key, "locksmith.") })
}

func (c *tally) row(name string, r contest.Record, left int) string {
	last := time.Duration(0)
	longest := time.Duration(0)
	for _, h := range r.Held {
		if last > 0 {
			longest = max(longest, h.Start-last)
		}
		last = max(last, min(h.End, clock.Boot{}.Now()))
	}
	return fmt.Sprintf("%s: %d holds, %d of them shared; %d overlaps; %d killed; %d stopped, of them while inside %d told and %d not told; losses by its own clock %d, by the cluster before the lease was over %d; gave up %d; the lock was free for %.1f s at most; %d keys left",
		name, len(r.Held), len(sharing(r.Held)), overlaps(r.Held), c.killed.Load(), c.stopped.Load(), c.told.Load(), c.untold.Load(), c.expired.Load(), c.early.Load(), c.gaveUp.Load(), longest.Seconds(), left)
}

// locksmith is a command.
func locksmith(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	lab.Program(t, "cmd/locksmith-remote") // which the other one becomes is beside it
	return exec.Command(lab.Program(t, "cmd/locksmith"), args...)
}
