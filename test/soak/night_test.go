//go:build linux

package soak

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"locksmith/test/guest"
	"locksmith/test/lab"
)

var (
	nightTime = flag.Duration("night", 0, "let a site of three hosts live for this `duration`, a minute or more")
	nightPace = flag.Float64("pace", 1, "let so many `times` as many jobs and mishaps come in the night")
	nightPage = flag.String("page", "", "write what the night showed to this `file`")
)

const (
	nightHosts  = 3
	faultsTitle = "What went wrong:"
)

// nightKinds are the kinds of locks of the site.
var nightKinds = []string{"nfs:", "mkdir:?style=dir", "local:"}

// A night says what comes to a site, and how often.
type night struct {
	length   time.Duration
	lease    time.Duration // of jobs
	jobs     time.Duration // between the begins of two jobs, in the mean
	usual    time.Duration // how long a job works at most, except for long jobs
	kills    time.Duration // between two
	steps    time.Duration // between two steps of the clock
	restarts time.Duration // between two of the server
	full     time.Duration // for so long the disk is full, once
	look     time.Duration // between two looks at who holds a lock all the time
	grows    float64       // KiB of memory that such a holder may grow by
}

// newNight is the pace of a site: 200 jobs an hour, a kill a minute. The server is restarted each
// hour, or, of a night that is too short to tell, three times an hour.
func newNight(length time.Duration, pace float64) night {
	every := func(d time.Duration) time.Duration { return time.Duration(float64(d) / pace) }
	restarts := time.Hour
	if length < 8*time.Hour {
		restarts = 20 * time.Minute
	}
	n := night{
		length: length, lease: max(every(time.Minute), 12*time.Second), jobs: every(time.Hour / 200), usual: every(30 * time.Second),
		kills: every(time.Minute), steps: min(every(10*time.Minute), length/8), restarts: min(every(restarts), length/4),
		full: max(every(time.Minute), 5*time.Second), look: max(time.Second, min(10*time.Second, length/720)), grows: 64,
	}
	if length < time.Hour {
		n.grows = 1024 // Go's memory has not been collected often enough
	}
	return n
}

// TestNight: on a site with three kinds of locks jobs come and go and are killed. Their server
// goes away, its disk is full, and the wall clock is set. SIGINT ends the night early.
func TestNight(t *testing.T) {
	if guest.Inside() {
		return
	}
	if *nightTime == 0 {
		t.Skip("takes as long as -night says: only with that")
	}
	if *nightTime < time.Minute {
		t.Fatalf("-night %v: give it a minute at least", *nightTime)
	}
	stop := filepath.Join(t.TempDir(), "stop")
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(told)
	go func() {
		if <-told != nil {
			_ = os.WriteFile(stop, nil, 0o600)
		}
	}()
	defer close(told)
	l := guest.In(t, "../nfslab/guest", lab.Program(t, "cmd/locksmith"), lab.Program(t, "test/lab/contest/witness"))
	began, load := time.Now(), watchLoad()
	said := l.Boot(t, guest.Guest{
		Hosts: nightHosts, Disk: true, Run: "^TestGuest$", CPU: <-guest.Processors(t), Limit: *nightTime + time.Hour,
		Settings: []string{"LAB_VERS=4.2", "LAB_FS=ext4", "LAB_STOP=" + stop, "LAB_NIGHT=" + nightTime.String(), fmt.Sprintf("LAB_PACE=%g", *nightPace)},
	})
	a := lastAccount(t, said)
	page := a.page(newNight(*nightTime, *nightPace), *nightPace, began, load())
	t.Logf("\n%s", page)
	if *nightPage != "" {
		if err := os.WriteFile(*nightPage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNightPage: the page has each kind of lock, and no fault.
func TestNightPage(t *testing.T) {
	text, err := os.ReadFile("NIGHT.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range nightKinds {
		if !strings.Contains(string(text), "\n| "+name+" | ") {
			t.Errorf("NIGHT.md has no row of %s", name)
		}
	}
	if strings.Contains(string(text), faultsTitle) {
		t.Error("NIGHT.md tells of a night in which something went wrong")
	}
}

// watchLoad looks at the machine's load each minute, until stop is called, which returns the
// loads.
func watchLoad() (stop func() []float64) {
	var all []float64
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			text, _ := os.ReadFile("/proc/loadavg")
			first, _, _ := strings.Cut(string(text), " ")
			if n, err := strconv.ParseFloat(first, 64); err == nil {
				all = append(all, n)
			}
			select {
			case <-time.After(time.Minute):
			case <-over:
				return
			}
		}
	})
	return func() []float64 {
		close(over)
		watching.Wait()
		slices.Sort(all)
		return all
	}
}

// An account is what was seen of a night so far.
type account struct {
	Hours    float64
	Over     bool   // the night is over and judged; else the guest ended before
	Killed   [3]int // by who was killed: run alone, its command alone, both
	Restarts int
	Long     int // of these were longer than the lease of jobs
	Steps    int // of the clock
	Full     int // times that the disk was
	Stood    float64
	Stands   int // how often the guest stood still for long
	Left     int // processes of ours when all was over
	Places   []tally
	Faults   []string
}

// The values say who is killed.
const (
	runAlone = iota
	commandAlone
)

// A tally is what was seen of one kind of lock.
type tally struct {
	Name                                    string
	Jobs, Held, Busy, Harmed, Told, Refused int
	Overlaps, Untold, Unexplained           int
	Gap                                     float64 // the longest time in seconds for which nobody had the lock that somebody wanted, beyond what explains it
	Beats                                   int64
	Beat                                    float64 // the longest time in seconds between two heartbeats
	Memory, Private, Descriptors, Threads   string
	Names, Remembered                       string
}

var accountLine = regexp.MustCompile(`(?m)account: (\{.*\})$`)

func lastAccount(t *testing.T, said string) (a account) {
	t.Helper()
	all := accountLine.FindAllStringSubmatch(said, -1)
	if len(all) == 0 {
		t.Fatal("the guest gave no account")
	}
	if err := json.Unmarshal([]byte(all[len(all)-1][1]), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// page returns the page about a night.
func (a account) page(n night, pace float64, began time.Time, load []float64) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	say("# A night\n\nWritten by `go test ./test/soak -run TestNight -night %v -pace %g -page NIGHT.md -timeout 0 -v`, begun\n%s (UTC).\n", n.length, pace, began.UTC().Format("2 January 2006, 15:04"))
	say("It lasted %.2f hours%s. ", a.Hours, map[bool]string{false: ", when the guest ended before its time: nothing was judged", true: ""}[a.Over])
	say("The load of the machine beside it, which\nhas %d processors, was %.1f in the median, and %.1f at most.\n\n", n.processors(), load[len(load)/2], load[len(load)-1])
	say("Three hosts and an NFS 4.2 server with an ext4 disk, in one user-mode Linux. On average a job comes each %v, to a\nlock of each kind in turn; "+
		"it works for up to %v, one in six for up to %v, under a lease of %v. One in five only tries once, and one in five wants in vain a lock that\none holder has all night. "+
		"Each %v run, its command or both are killed with -9; the server crashes each %v, and comes back within %v,\nor, each second time, after %v; "+
		"each %v the clock of all is set an hour or a day ahead or back; once the disk is full for %v.\n\n",
		n.jobs, n.usual, 4*n.lease, n.lease, n.kills, n.restarts, briefOutage, n.long(), n.steps, n.full)
	say("There were %d kills of run alone, %d of its command and %d of both, %d crashes of the server (%d longer than the lease), %d steps of the clock, and the disk was full %d times.\n"+
		"The guest stood still for more than %v %d times, for %.1f s at most. %d processes of locksmith were left at the end.\n\n",
		a.Killed[runAlone], a.Killed[commandAlone], a.Killed[2], a.Restarts, a.Long, a.Steps, a.Full, standstill, a.Stands, a.Stood, a.Left)
	say("| lock | jobs | had it | found it held | killed | lost it, told | refused, told | two at once | lost it, not told | not explained | longest wait for nobody |\n" +
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, p := range a.Places {
		say("| %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %.1f s |\n", p.Name, p.Jobs, p.Held, p.Busy, p.Harmed, p.Told, p.Refused, p.Overlaps, p.Untold, p.Unexplained, p.Gap)
	}
	say("\n*Refused* and *lost* came of outages and the full disk alone. The longest wait is of a time in which a job wanted the lock and\n" +
		"nobody had it, but for outages and the full disk; it is up to a lease where a killed one was on another host, and one more for each\nkilled one before it in the queue.\n\n")
	say("Who held a lock all night, and its place: medians of eight parts of the time, but for its first third, in which all warms up.\n\n" +
		"| lock | heartbeats | longest gap | PSS, KiB | private, KiB | descriptors | threads | names at the place | files of tries |\n" +
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, p := range a.Places {
		say("| %s | %d | %.1f s | %s | %s | %s | %s | %s | %s |\n", p.Name, p.Beats, p.Beat, p.Memory, p.Private, p.Descriptors, p.Threads, p.Names, p.Remembered)
	}
	if len(a.Faults) > 0 {
		say("\n%s\n\n", faultsTitle)
		for _, f := range a.Faults {
			say("- %s\n", strings.Join(strings.Fields(f), " "))
		}
	}
	return b.String()
}

// long is the length of an outage of the server in which jobs lose their locks.
func (n night) long() time.Duration { return n.lease * 5 / 4 }

func (night) processors() int {
	text, _ := os.ReadFile("/proc/stat")
	return strings.Count(string(text), "\ncpu")
}
