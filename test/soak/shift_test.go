//go:build linux

package soak

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/clock"
	"locksmith/protocol"
	"locksmith/test/guest"
	"locksmith/test/lab"
	"locksmith/test/lab/contest"
	"locksmith/test/lab/holds"
)

const (
	briefOutage = 5 * time.Second  // at most, of the server, in which nothing is lost
	keptLease   = 10 * time.Minute // the lease of a helper that holds a lock all night, through each outage
	standstill  = 2 * time.Second
	nightExport = "/mnt/export" // the server's disk
	nightMount  = "/mnt/nfs"    // which each host has there
)

// A shift is a night as its guest sees it.
type shift struct {
	night
	t       *testing.T
	stop    string // a file: the night ends when it exists
	begin   time.Duration
	works   []*workplace
	went    sync.WaitGroup // jobs
	started atomic.Int64

	mu       sync.Mutex
	account  account
	jobs     []*job
	outages  []interval // in which NFS was away for longer than the lease
	troubles []interval // in which something may be refused
}

// An interval is a time between two moments of the clock since boot.
type interval struct{ from, to time.Duration }

// A workplace is where jobs take locks of one kind.
type workplace struct {
	place
	hosts  []int
	remote bool // on the server's disk
	tokens bool
	keeper *holder
	log    *contest.Log // of the lock that goes from hand to hand
}

// A job takes a lock once.
type job struct {
	number        int
	at            *workplace
	vain          bool // the job wants the lock that is always held
	cmd           *exec.Cmd
	said          strings.Builder
	wanted, ended time.Duration
	harmed, gone  bool
	status        int
}

// TestGuest runs in the guest, beside the server.
func TestGuest(t *testing.T) {
	if !guest.Inside() {
		return
	}
	length, err1 := time.ParseDuration(os.Getenv("LAB_NIGHT"))
	pace, err2 := strconv.ParseFloat(os.Getenv("LAB_PACE"), 64)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	s := &shift{night: newNight(length, pace), t: t, stop: os.Getenv("LAB_STOP"), begin: bootNow()}
	t.Run("night", s.run)
}

func bootNow() time.Duration { return clock.Boot{}.Now() }

func (s *shift) run(t *testing.T) {
	s.t = t
	s.works = workplaces(t)
	for _, w := range s.works {
		w.keep(t)
	}
	over := make(chan struct{})
	var mishaps sync.WaitGroup
	for _, do := range []func(<-chan struct{}){s.employ, s.killSome, s.stepClock, s.restartServer, s.fillDisk, s.notice} {
		mishaps.Go(func() { do(over) })
	}
	s.watch(over)
	close(over)
	mishaps.Wait()
	s.end()
}

// workplaces returns one workplace for each of three kinds of locks.
func workplaces(t *testing.T) (all []*workplace) {
	t.Helper()
	everywhere := []int{1, 2, 3}
	for i, w := range []*workplace{
		{place: place{name: nightKinds[0]}, hosts: everywhere, remote: true, tokens: true},
		{place: place{name: nightKinds[1]}, hosts: everywhere, remote: true, tokens: true},
		{place: place{name: nightKinds[2]}, hosts: everywhere[:1]},
	} {
		scheme, query, _ := strings.Cut(w.name, "?")
		if query != "" {
			query = "?" + query
		}
		there := fmt.Sprintf("/run/night/%d", i)
		w.dir = guest.Path(1, there)
		if w.remote {
			there = fmt.Sprintf("%s/%d", nightMount, i)
			w.dir = fmt.Sprintf("%s/%d", nightExport, i)
		}
		w.lock(t, there, scheme+"%s/l"+query)
		for _, host := range w.hosts {
			w.memory = append(w.memory, guest.Path(host, "/run/locksmith"))
		}
		w.log = contest.NewLog(t)
		all = append(all, w)
	}
	return all
}

// keep starts the helper that holds a lock all night, on the first host.
func (w *workplace) keep(t *testing.T) {
	t.Helper()
	cmd := guest.On(1, slices.Concat([]string{"sh", "-c", `locksmith hold --stdin watch "$@"; exit $?`, "parent",
		"--lease", keptLease.String(), "--refresh", "5s", "--beats"}, w.kept)...)
	cmd.Env = append(os.Environ(), "GOGC=5") // see command
	h := lab.Hold(t, cmd)
	h.Held()
	w.keeper = &holder{place: w.place, Helper: h, pid: below(h.PID(), 2), ended: make(chan error, 1)}
	go w.keeper.listen()
}

// below is the only child of the only child and so on, or 0.
func below(pid, generations int) int {
	for range generations {
		children := guest.Children(pid)
		if len(children) == 0 {
			return 0
		}
		pid = children[0]
	}
	return pid
}

// watch looks at the keepers until the night is over.
func (s *shift) watch(over chan struct{}) {
	told := time.Now()
	for end := time.Now().Add(s.length); time.Now().Before(end); time.Sleep(s.look) {
		if time.Since(told) > 5*time.Minute { // for a reader who wants to know before the night is over
			told = time.Now()
			s.give(false)
		}
		if _, err := os.Stat(s.stop); err == nil {
			s.t.Log("it is ended early")
			return
		}
		for _, w := range s.works {
			select {
			case err := <-w.keeper.ended:
				s.fault("%s: who held it all night holds it no more: %v; stderr: %s", w.name, err, w.keeper.Stderr())
				return
			default:
				w.keeper.look(s.t)
			}
		}
	}
}

func (s *shift) fault(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.account.Faults = append(s.account.Faults, fmt.Sprintf(format, args...))
}

// wait waits for a while; false: the night is over.
func wait(d time.Duration, over <-chan struct{}) bool {
	select {
	case <-time.After(d):
		return true
	case <-over:
		return false
	}
}

// most is how many jobs there are at a time.
const most = 12

// employ has jobs begin, now and then.
func (s *shift) employ(over <-chan struct{}) {
	for n := 1; wait(min(time.Duration(rand.ExpFloat64()*float64(s.night.jobs)), 5*s.night.jobs), over); n++ {
		if len(s.running()) < most {
			s.start(s.works[n%len(s.works)], s.work())
		}
	}
}

// work returns how long a job works. One job in six is long: it outlives an outage.
func (s *shift) work() time.Duration {
	if rand.IntN(6) == 0 {
		return rand.N(4 * s.lease)
	}
	return rand.N(s.usual)
}

// start starts a job.
func (s *shift) start(w *workplace, work time.Duration) {
	j := &job{number: int(s.started.Add(1)), at: w}
	n := j.number
	flags := []string{"--lease", s.lease.String(), "--meta", fmt.Sprintf("job=%d", n)}
	lock := w.busy
	switch rand.IntN(5) {
	case 0:
		flags = append(flags, "-n")
	case 1:
		j.vain, lock = true, w.kept
		flags = append(flags, "--timeout", (s.lease / 4).String())
	default:
		flags = append(flags, "--timeout", (10 * s.lease).String())
	}
	argv := slices.Concat([]string{"sh", "-c", `locksmith run "$@"; exit $?`, "cron"}, flags, lock,
		[]string{"--", "witness", w.log.File, "exclusive", work.String()})
	j.cmd = guest.On(w.hosts[rand.IntN(len(w.hosts))], argv...)
	j.cmd.Env = append(os.Environ(), "WITNESS_NAME="+strconv.Itoa(n))
	j.cmd.Stdout, j.cmd.Stderr, j.wanted = &j.said, &j.said, bootNow()
	if err := j.cmd.Start(); err != nil {
		s.fault("job %d: %v", n, err)
		return
	}
	s.mu.Lock()
	s.jobs = append(s.jobs, j)
	s.mu.Unlock()
	s.went.Go(func() {
		_ = j.cmd.Wait() // its status tells
		s.mu.Lock()
		defer s.mu.Unlock()
		j.gone, j.ended, j.status = true, bootNow(), j.cmd.ProcessState.ExitCode()
		if j.status != 0 {
			s.t.Logf("%.0f: %s job %d, wanted at %.0f, killed: %v: exit status %d: %s", j.ended.Seconds(), w.name, n, j.wanted.Seconds(), j.harmed, j.status, strings.TrimSpace(j.said.String()))
		}
	})
}

func (s *shift) running() (all []*job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		if !j.gone {
			all = append(all, j)
		}
	}
	return all
}

// killSome kills one job each time, as soon as there is one.
func (s *shift) killSome(over <-chan struct{}) {
	for wait(s.kills, over) {
		for !s.killOne() {
			if !wait(time.Second, over) {
				return
			}
		}
	}
}

func (s *shift) killOne() bool {
	all := s.running()
	if len(all) == 0 {
		return false
	}
	j := all[rand.IntN(len(all))]
	run := below(j.cmd.Process.Pid, 2)
	if run == 0 || j.harmed {
		return false
	}
	command, who := below(run, 1), rand.IntN(len(s.account.Killed))
	if command == 0 { // it waits
		who = runAlone
	}
	s.mu.Lock()
	s.account.Killed[who]++
	j.harmed = true
	s.mu.Unlock()
	j.at.log.Killed(s.t, j.number)
	if who != runAlone {
		_ = unix.Kill(command, unix.SIGKILL) // it may have ended
	}
	if who != commandAlone {
		_ = unix.Kill(run, unix.SIGKILL)
	}
	return true
}

// stepClock sets the clock of all hosts and the server.
func (s *shift) stepClock(over <-chan struct{}) {
	const day = 24 * time.Hour
	for n, all := 0, []time.Duration{time.Hour, -time.Hour, -day, day}; wait(s.steps, over); n++ {
		if err := guest.StepClock(all[n%len(all)]); err != nil {
			s.fault("set the clock: %v", err)
		}
		s.count(func(a *account) { a.Steps++ })
	}
}

func (s *shift) count(change func(*account)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.account)
}

// restartServer has the server crash, and come back soon or, each second time, after the lease of jobs.
func (s *shift) restartServer(over <-chan struct{}) {
	for n := 1; wait(s.restarts, over); n++ {
		away := rand.N(briefOutage)
		if n%2 == 0 {
			away = s.long()
			for _, w := range s.works { // so that somebody has something to lose
				s.start(w, 4*s.lease)
			}
			if !wait(s.lease/2, over) {
				return
			}
		}
		from := bootNow()
		s.must("nfsd", "crash")
		time.Sleep(away)
		s.must("nfsd", "grace")
		to := bootNow()
		s.t.Logf("the server was away from %.0f to %.0f", from.Seconds(), to.Seconds())
		s.mu.Lock()
		s.account.Restarts++
		s.troubles = append(s.troubles, interval{from, to + s.lease}) // clients take a while to come back
		if n%2 == 0 {
			s.account.Long++
			s.outages = append(s.outages, interval{from, to})
		}
		s.mu.Unlock()
	}
}

func (s *shift) must(argv ...string) {
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		s.fault("%q: %v: %s", argv, err, out)
	}
}

// fillDisk fills the server's disk once, in the middle of the night.
func (s *shift) fillDisk(over <-chan struct{}) {
	if !wait(s.length*9/16, over) {
		return
	}
	const filler = nightExport + "/filler"
	from := bootNow()
	if err := os.Mkdir(filler, 0o755); err != nil {
		s.fault("%v", err)
	}
	if err := guest.FillDisk(filepath.Join(filler, "all"), 0, 0); err != nil {
		s.fault("fill the disk: %v", err)
	}
	s.count(func(a *account) { a.Full++ })
	wait(s.full, over)
	if err := os.RemoveAll(filler); err != nil {
		s.fault("%v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.troubles = append(s.troubles, interval{from, bootNow() + s.lease})
}

// notice looks for times in which the guest stood still.
func (s *shift) notice(over <-chan struct{}) {
	const look = 100 * time.Millisecond
	for last := bootNow(); wait(look, over); last = bootNow() {
		stood := bootNow() - last
		s.count(func(a *account) {
			a.Stood = max(a.Stood, stood.Seconds())
			if stood > standstill {
				a.Stands++
			}
		})
		if stood > s.lease/4 {
			s.mu.Lock()
			s.troubles = append(s.troubles, interval{last, bootNow()})
			s.mu.Unlock()
		}
	}
}

// end waits for all jobs that still run, and judges the night.
func (s *shift) end() {
	all := make(chan struct{})
	go func() { s.went.Wait(); close(all) }()
	select {
	case <-all:
	case <-time.After(11 * s.lease):
		for _, j := range s.running() {
			s.fault("%s: job %d does not end: %s", j.at.name, j.number, j.said.String())
		}
	}
	for _, w := range s.works {
		argv := slices.Concat([]string{"locksmith", "run", "--timeout", (3 * s.lease).String()}, w.busy, []string{"--", "true"})
		if out, err := guest.On(w.hosts[0], argv...).CombinedOutput(); err != nil {
			s.fault("%s: stuck: not free at the end: %v: %s", w.name, err, out)
		}
		w.keeper.LetGo()
		select {
		case err := <-w.keeper.ended:
			if err != nil {
				s.fault("%s: who held it all night: %v; stderr: %s", w.name, err, w.keeper.Stderr())
			}
		case <-time.After(lab.Patience):
			s.fault("%s: who held it all night does not release it", w.name)
		}
		<-w.keeper.Ended()
	}
	out, _ := exec.Command("sh", "-c", "busybox ps -o comm | grep -c '^locksmith'").CombinedOutput()
	s.account.Left, _ = strconv.Atoi(strings.TrimSpace(string(out)))
	if s.account.Left > 0 {
		s.fault("%d processes of locksmith are left", s.account.Left)
	}
	s.give(true)
}

// give judges what was recorded so far, and prints the account.
func (s *shift) give(over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.account
	a.Hours, a.Over, a.Faults = (bootNow() - s.begin).Hours(), over, slices.Clone(a.Faults)
	for _, w := range s.works {
		tally, faults := s.judge(w)
		a.Places = append(a.Places, tally)
		a.Faults = append(a.Faults, faults...)
	}
	text, err := json.Marshal(a)
	if err != nil {
		s.t.Error(err)
	}
	s.t.Logf("account: %s", text)
	for _, f := range a.Faults {
		if over {
			s.t.Error(f)
		}
	}
}

// judge returns what became of a workplace's locks. The caller holds mu.
func (s *shift) judge(w *workplace) (t tally, faults []string) {
	t.Name = w.name
	fault := func(format string, args ...any) { faults = append(faults, w.name+": "+fmt.Sprintf(format, args...)) }
	var held []holds.Hold
	if _, err := os.Stat(w.log.File); err == nil { // somebody had the lock
		held = w.log.Read(s.t).Held
	}
	for _, f := range holds.Faults(slices.Clone(held), w.tokens) {
		t.Overlaps++
		fault("%s", f)
	}
	t.Held = len(held)
	byName := map[string]holds.Hold{}
	for _, h := range held {
		byName[h.Who] = h
	}
	for _, o := range s.outages {
		for _, h := range held {
			if w.remote && h.Start < o.from && h.End > o.from+s.lease && h.End != holds.Open {
				t.Untold++
				fault("the server was away from %v to %v: not told: %v", o.from, o.to, h)
			}
		}
	}
	for _, j := range s.jobs {
		if j.at == w {
			s.judgeJob(w, j, byName, &t, fault)
		}
	}
	s.judgeWaits(w, held, &t, fault)
	s.judgeKeeper(w, &t, fault)
	return t, faults
}

func (s *shift) judgeJob(w *workplace, j *job, held map[string]holds.Hold, t *tally, fault func(string, ...any)) {
	t.Jobs++
	_, had := held[strconv.Itoa(j.number)]
	switch {
	case !j.gone:
	case j.harmed:
		t.Harmed++
	case j.status == 0 && had:
	case j.status == protocol.Timeout.Exit():
		if t.Busy++; !j.vain && j.ended-j.wanted > 5*s.lease {
			fault("job %d waited for %v in vain: %s", j.number, j.ended-j.wanted, j.said.String())
		}
	case j.status == protocol.Expired.Exit() && s.troubled(w, j):
		t.Told++
	case j.status != 0 && s.troubled(w, j) && j.said.Len() > 0:
		t.Refused++
	default:
		t.Unexplained++
		fault("job %d, since %v, until %v: exit status %d: %s", j.number, j.wanted, j.ended, j.status, j.said.String())
	}
}

// troubled reports that the server, its disk or the guest was away in a job's time.
func (s *shift) troubled(w *workplace, j *job) bool {
	return slices.ContainsFunc(s.troubles, func(i interval) bool { return i.from < j.ended && j.wanted < i.to })
}

// judgeWaits looks for the longest time in which somebody wanted a lock that nobody had.
func (s *shift) judgeWaits(w *workplace, held []holds.Hold, t *tally, fault func(string, ...any)) {
	wanted := map[string]time.Duration{}
	for _, j := range s.jobs {
		wanted[strconv.Itoa(j.number)] = j.wanted
	}
	last := time.Duration(0)
	for _, h := range held {
		from := max(last, wanted[h.Who])
		last = max(last, h.End)
		gap := h.Start - from
		for _, i := range s.troubles {
			gap -= max(0, min(i.to, h.Start)-max(i.from, from))
		}
		t.Gap = max(t.Gap, gap.Seconds())
		if gap > 4*s.lease {
			fault("stuck: nobody had it for %v before %v", gap, h)
		}
	}
}

func (s *shift) judgeKeeper(w *workplace, t *tally, fault func(string, ...any)) {
	k := w.keeper
	t.Beats, t.Beat = k.beats.Load(), k.longest().Seconds()
	if k.longest() > keptLease*3/4 {
		fault("%v between two heartbeats of who holds it all night", k.longest())
	}
	if len(k.samples) < 40 {
		return
	}
	for _, grown := range (plan{grows: s.grows}).check(k.samples) {
		fault("it grows: %s", grown)
	}
	of := k.samples.settled()
	t.Memory, t.Private, t.Descriptors, t.Threads = of.trend(memory).String(), of.trend(private).String(), of.trend(descriptors).String(), of.trend(threads).String()
	t.Names, t.Remembered = of.trend(names).String(), of.trend(remembered).String()
}
