package bench

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"locksmith/test/lab"
)

var (
	rounds = flag.Int("rounds", 0, "measure in so many rounds; 0 takes a quick look, whose figures mean little")
	drawn  = flag.String("plot", "", "draw curves.svg and queues.svg into this `directory`")
	told   = flag.String("readme", "", "put the table into this `file`, between the lines\n"+beginMark+" and "+endMark+
		"; of figures chosen with -run, only\ntheir rows")
	against = flag.Bool("against", false, "say what fell against the table in README.md")
)

// A figure is measured of rivals and adds rows to the table.
type figure struct {
	name    string
	measure func(*bench, []rival)
	of      []rival
}

var figures = []figure{
	{"spawn", (*bench).spawn, []rival{local, nfs, floor, peer, flock, setlock, dotlockfile, procmail, mkdirLoop, etcdctl, flufl, proper, perlNFSLock}},
	{"commands", (*bench).commands, []rival{local, nfs, flock, setlock, dotlockfile, procmail, mkdirLoop, etcdctl}},
	{"loops", (*bench).loops, []rival{local, nfs, localBackend, nfsBackend, kernel, mkdirLoop, flufl, proper, perlNFSLock}},
	{"latency", (*bench).latency, []rival{local, nfs, flock, setlock, etcdctl, mkdirLoop}},
	{"idle", (*bench).idle, []rival{local, flock, setlock, nfs}},
	{"ftp", (*bench).polls, []rival{ftp}},
	{"memory", (*bench).memory, []rival{local, nfs, localSingle, nfsSingle, floor, flock}},
	{"curve", (*bench).curves, []rival{local, nfs, flock, mkdirLoop}},
	{"queue", (*bench).queues, []rival{local, nfs, flock, mkdir, mkdirTree, link}},
}

func TestMain(m *testing.M) { lab.Main(m, nil) }

// TestFigures fails on lost updates, hangs and locks that are left behind, and if README.md does
// not show what is measured. It does not fail for the values.
func TestFigures(t *testing.T) {
	lab.NotShort(t, "builds programs, and takes some seconds")
	b := newBench(t, figures, local, nfs)
	b.tell(t, figures, beginMark)
}

// besides are the figures of flock:, beside flock(1). Other tables have them for other kinds.
var besides = []figure{
	{"spawn", (*bench).spawn, []rival{local, flockStays, flockBecomes, floor, flock}},
	{"commands", (*bench).commands, []rival{local, flockStays, flockBecomes, flock}},
	{"crowds", (*bench).crowded, []rival{local, nfs, flockStays, flockBecomes, flock}},
	{"idle", (*bench).idle, []rival{local, flockStays, flock}},
	{"memory", (*bench).memory, []rival{flockStays, flockBecomes, flock, alone}},
}

// TestBesideFlock is TestFigures for flock:, and for local: and nfs: beside flock(1) in the same
// run.
func TestBesideFlock(t *testing.T) {
	lab.NotShort(t, "builds programs, and takes some seconds")
	b := newBench(t, besides, local, nfs, flockStays, flockBecomes)
	b.among, b.crowds = ", beside flock(1)", b.crowds[:1]
	b.tell(t, besides, besideFlock)
}

// tell measures, prints the table, and writes it to the file that was asked for.
func (b *bench) tell(t *testing.T, figures []figure, mark string) {
	heading, before := machine(), processors()
	var ran []string
	for _, f := range figures {
		t.Run(f.name, func(t *testing.T) {
			b.TB = t
			f.measure(b, f.of)
			ran = append(ran, f.name)
		})
		if b.TB = t; t.Failed() {
			return
		}
	}
	when := fmt.Sprintf("%s, afterwards %s, processors stolen by others meanwhile %s", heading, firstWord("/proc/loadavg"), before.stolenSince())
	text := fmt.Sprintf("%s:\n\n%s", when, b.markdown())
	fmt.Printf("\n%s\n", text)
	if *against {
		_, page, _ := cut(t, "README.md", mark)
		for _, line := range fell(b.ours, parseRows(page), b.rows) {
			fmt.Println(line)
		}
	}
	switch {
	case *told == "":
	case len(ran) == len(figures):
		putInto(t, *told, mark, text)
	default:
		b.putRows(t, *told, mark, fmt.Sprintf("- %s: %s.", strings.Join(ran, ", "), when))
	}
	mustShow(t, "README.md", mark, text, len(ran) == len(figures))
	if len(b.excuses) > 0 && os.Getenv("CI") == "true" {
		t.Errorf("not installed; test/run does that: %v", b.excuses)
	}
}

// A plan says how long to measure.
type plan struct {
	rounds   int           // in which each rival has its turn
	spawns   int           // runs of each rival in a round
	contend  time.Duration // by each rival in a round, or longer:
	changes  int           // until there are so many hand-offs
	most     time.Duration // but no longer than this
	crowds   []int         // how many processes contend
	handOffs int           // of each rival in a round
	nap      time.Duration // in which a waiter falls asleep for certain
	settle   time.Duration // before idle processes are looked at
	watch    time.Duration // of idle waiters
	waiters  int           // that idle
	retire   time.Duration // until waiters of a lock that is asked for do so slowly
	helpers  []int         // that hold a lock each, for their memory
	sizes    []int         // of queues
	least    int           // hand-offs for a point of the curve
	steady   time.Duration // before they are watched
	load     time.Duration // while they are
	lines    []int         // how many come at once, and then queue
	masses   []int         // how many come at once, beside flock(1)
}

var full = plan{
	spawns: 150, contend: time.Second, changes: 10, most: 20 * time.Second, crowds: []int{8, 64},
	handOffs: 70, nap: 150 * time.Millisecond,
	settle: 3 * time.Second, watch: 20 * time.Second, waiters: 100, retire: time.Minute,
	helpers: []int{10, 100},
	sizes:   []int{1, 2, 4, 8, 16, 32, 64, 128, 256}, least: 17, steady: 6 * time.Second, load: 3 * time.Second,
	lines: []int{10, 50, 200, 600, 1500}, masses: []int{600, 1500},
}

var quick = plan{
	rounds: 1, spawns: 2, contend: 50 * time.Millisecond, changes: 2, most: 300 * time.Millisecond, crowds: []int{8},
	handOffs: 2, nap: 30 * time.Millisecond,
	settle: 100 * time.Millisecond, watch: 300 * time.Millisecond, waiters: 10, retire: 300 * time.Millisecond,
	helpers: []int{10, 1},
	sizes:   []int{1, 2, 4}, least: 1, steady: 100 * time.Millisecond, load: 100 * time.Millisecond,
	lines: []int{2, 8}, masses: []int{8, 9},
}
