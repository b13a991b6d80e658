//go:build unix

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"locksmith/test/explorer/explore"
)

// options are what the command line says.
type options struct {
	only  *regexp.Regexp
	limit int
	walks int
	share int // the divisor of the states and walks that a configuration says
	seed  uint64
	walk  int
	json  bool
	// until is a part of a violation's text. When a configuration has such a violation, no further
	// one is explored.
	until string
	// mutation matches the mutations to try instead of the algorithm as it is.
	mutation *regexp.Regexp
}

// violation is the exit status when a property does not hold.
const violation = 3

func main() {
	debug.SetGCPercent(400) // processors are scarcer here than memory
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	o, err := parse(args)
	if err != nil {
		return 2
	}
	if o.mutation != nil {
		return o.mutate()
	}
	begin := time.Now()
	results := o.explore()
	wrong := 0
	if slices.ContainsFunc(results, failed) {
		wrong = violation
	}
	if o.json {
		_ = json.NewEncoder(os.Stdout).Encode(results)
		return wrong
	}
	for _, r := range results {
		fmt.Println(describe(r))
		if r.Wrong != nil {
			fmt.Println("  " + counterexample(r.Wrong))
		}
	}
	total(results, time.Since(begin))
	return wrong
}

func parse(args []string) (options, error) {
	var o options
	var only, mutation string
	f := flag.NewFlagSet("explorer", flag.ContinueOnError)
	f.StringVar(&only, "config", "", "only the configurations whose whole names match this regular expression")
	f.IntVar(&o.limit, "limit", 0, "states to search in each small configuration; 0: as many as it says")
	f.IntVar(&o.walks, "walks", 0, "ways to walk through each large configuration; 0: as many as it says")
	f.IntVar(&o.share, "share", 1, "divide the numbers of states and walks by this, but where a violation must be met")
	f.Uint64Var(&o.seed, "seed", 1, "of the walks")
	f.IntVar(&o.walk, "walk", -1, "go only this way")
	f.BoolVar(&o.json, "json", false, "print the results as JSON")
	f.StringVar(&o.until, "until", "", "explore no further configuration when one has a violation whose text has this in it")
	f.StringVar(&mutation, "mutation", "", "try the wrong algorithms whose whole names match this regular expression")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.share < 1 {
		err := errors.New("-share is less than 1")
		fmt.Fprintln(os.Stderr, "explorer:", err)
		return o, err
	}
	if only == "" {
		only = ".*"
	}
	var err, err2 error
	o.only, err = regexp.Compile("^(?:" + only + ")$")
	if mutation != "" {
		o.mutation, err2 = regexp.Compile("^(?:" + mutation + ")$")
	}
	if err = errors.Join(err, err2); err != nil {
		fmt.Fprintln(os.Stderr, "explorer:", err)
	}
	return o, err
}

// mutate shows how each mutation is found out.
func (o options) mutate() int {
	status := 0
	for _, m := range mutations() {
		if !o.mutation.MatchString(m.name) {
			continue
		}
		v, err := m.tryAlone()
		if err != nil {
			fmt.Fprintln(os.Stderr, "explorer:", err)
			status = violation
			continue
		}
		fmt.Printf("%s: %d steps\n", m.name, len(v.Steps))
		fmt.Println("  " + counterexample(v))
	}
	return status
}

func (m mutation) tryAlone() (*explore.Violation, error) {
	dir, err := os.MkdirTemp("", "explorer")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	mutants, err := build([]mutation{m}, dir)
	if err != nil {
		return nil, err
	}
	return m.try(mutants[0])
}

// tasks are the explorations that were asked for, in the order of the tables.
func (o options) tasks() []func() explore.Result {
	var tasks []func() explore.Result
	for _, c := range slices.Concat(small, smallDirectories, smallFiles, smallObjects, smallKernel, o.limits(slices.Concat(knownLimits, copiedObjects))) {
		if o.only.MatchString(c.Name) {
			tasks = append(tasks, func() explore.Result { return o.search(c) })
		}
	}
	for _, c := range slices.Concat(large, largeDirectories, largeFiles, largeObjects, largeKernel, o.limits(walkedLimits)) {
		if o.only.MatchString(c.Name) {
			tasks = append(tasks, func() explore.Result { return o.wander(c) })
		}
	}
	return tasks
}

// limits are the worlds that are searched only if they are asked for, because their violations
// are known.
func (o options) limits(known []explore.Config) []explore.Config {
	if o.only.MatchString("") {
		return nil
	}
	return known
}

// explore runs all tasks, on all processors. A task that until made needless has an empty result.
func (o options) explore() []explore.Result {
	tasks := o.tasks()
	results := make([]explore.Result, len(tasks))
	var group sync.WaitGroup
	var enough atomic.Bool
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, task := range tasks {
		free <- struct{}{}
		if enough.Load() {
			break
		}
		group.Go(func() {
			results[i] = task()
			if w := results[i].Wrong; o.until != "" && w != nil && strings.Contains(w.What, o.until) {
				enough.Store(true)
			}
			<-free
		})
	}
	group.Wait()
	return results
}

func (o options) search(c explore.Config) explore.Result {
	x := explore.NewExplorer(c)
	defer x.Close()
	return x.Search(cmp.Or(o.limit, o.part(c, cmp.Or(c.States, usualStates))))
}

// usualStates are enough for most configurations: if a configuration does not say how many states
// it takes, these show each mutation that it can show.
const usualStates = 100_000

const usualWalks = 100

// part is the share of what a configuration says. It is all where a violation must be met, which
// may come last.
func (o options) part(c explore.Config, n int) int {
	if len(c.Meets) > 0 {
		return n
	}
	return n / o.share
}

// maxWalk limits the length of one walk.
const maxWalk = 3000

// wander walks until a violation is found.
func (o options) wander(c explore.Config) explore.Result {
	sum := explore.Result{Name: c.Name, Limits: map[string]int{}}
	first, last := 0, cmp.Or(o.walks, o.part(c, cmp.Or(c.Walks, usualWalks)))
	if o.walk >= 0 {
		first, last = o.walk, o.walk+1
	}
	for i := first; i < last && sum.Wrong == nil; i++ {
		r := explore.Walk(c, o.seed, uint64(i), maxWalk)
		sum.Steps += r.Steps
		sum.States += r.States
		sum.Settled++
		sum.Walks++
		sum.Took += r.Took
		sum.Depth = max(sum.Depth, r.Depth)
		for what, n := range r.Limits {
			sum.Limits[what] += n
		}
		if r.Wrong != nil {
			r.Wrong.What += fmt.Sprintf(" (again: -config %s -seed %d -walk %d)", c.Name, o.seed, i)
			sum.Wrong = r.Wrong
		}
	}
	return sum
}

// describe describes an exploration in one line.
func describe(r explore.Result) string {
	how := fmt.Sprintf("cut at depth %d", r.Depth)
	switch {
	case r.Complete:
		how = fmt.Sprintf("complete, depth %d", r.Depth)
	case r.Walks > 0:
		how = fmt.Sprintf("%d walks, the longest of %d steps", r.Walks, r.Depth)
	}
	known := 0
	for _, n := range r.Limits {
		known += n
	}
	if known > 0 {
		how += fmt.Sprintf(", known limits met %d times", known)
	}
	for _, what := range r.Missed {
		how += fmt.Sprintf(", NOT MET: %s", what)
	}
	return fmt.Sprintf("%-20s %9d states %9d steps %5d settled %7.1fs  %s", r.Name, r.States, r.Steps, r.Settled, r.Took.Seconds(), how)
}

// A long counterexample ends with everybody waiting. Only its first and its last steps are shown.
const (
	head = 120
	tail = 30
)

// counterexample is a violation, with the numbered steps that lead to it.
func counterexample(v *explore.Violation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "VIOLATION: %s\n", v.What)
	for i, s := range v.Steps {
		if i < head || i >= len(v.Steps)-tail {
			fmt.Fprintf(&b, "  %3d  %s\n", i+1, s)
		}
	}
	return b.String()
}

// total adds up.
func total(all []explore.Result, took time.Duration) {
	var states, steps uint64
	for _, r := range all {
		states, steps = states+r.States, steps+r.Steps
	}
	fmt.Printf("in all %d states, %d steps in %.1fs: %.0f states/s\n", states, steps, took.Seconds(), float64(states)/took.Seconds())
}
