//go:build unix

package main

import (
	"flag"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"

	"locksmith/test/explorer/explore"
	"locksmith/test/lab"
	"locksmith/test/overlay"
)

var long = flag.Bool("long", false, "search a million states of each world, and walk thirty times as often")

// usualShare divides the numbers of states that show all mutations: without -long a third of them
// is searched.
const usualShare = 3

// leastSteps is how many steps a run must explore at least.
const leastSteps = 5_000_000

func TestAlgorithm(t *testing.T) {
	lab.NotShort(t, "the explorer computes for a minute")
	dir := t.TempDir()
	list, err := overlay.Write(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	program, err := compile(dir, list)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-json", "-share", strconv.Itoa(usualShare))
	if *long {
		cmd.Args = append(cmd.Args, "-limit", strconv.Itoa(10*usualStates), "-walks", strconv.Itoa(30*usualWalks))
	}
	cmd.Stderr = os.Stderr
	results, err := conclude(cmd.Output())
	if err != nil {
		t.Fatal(err)
	}
	var steps uint64
	for _, r := range results {
		steps += r.Steps
		t.Log(describe(r))
		if r.Wrong != nil {
			t.Errorf("%s: %s", r.Name, counterexample(r.Wrong))
		}
		for _, what := range r.Missed {
			t.Errorf("%s: not met, though doc.go says that it happens: %s", r.Name, what)
		}
	}
	if !slices.ContainsFunc(results, failed) && steps < leastSteps {
		t.Errorf("only %d steps", steps)
	}
}

// TestConclude: results count only if the explorer ended with them.
func TestConclude(t *testing.T) {
	t.Parallel()
	for script, good := range map[string]bool{
		`echo '[{"Name":"a"}]'`:                              true,
		`echo '[{"Name":"a"}]'; exit 1`:                      false,
		`echo '[{"Name":"a"}]'; exit 3`:                      false,
		`echo '[{"Name":"a"}]'; kill -9 $$`:                  false,
		`echo '[{"Name":"a","Wrong":{"What":"x"}}]'; exit 3`: true,
		`echo '[{"Name":"a","Missed":["x"]}]'; exit 3`:       true,
		`echo '[{"Name":"a","Wrong":{"What":"x"}}]'`:         false,
		`echo '[{"Name":"a","Wrong":{"What":"x"}}]'; exit 2`: false,
		`echo '[{"Name":"a"'; exit 3`:                        false,
		``:                                                   false,
	} {
		if results, err := conclude(exec.Command("sh", "-c", script).Output()); (err == nil) != good {
			t.Errorf("%s: got %v, %v", script, results, err)
		}
	}
}

// TestFound: a mutation must be found out by the property that it breaks, not by just any
// violation.
func TestFound(t *testing.T) {
	t.Parallel()
	wrong := func(what string, steps int) explore.Result {
		return explore.Result{Wrong: &explore.Violation{What: what, Steps: make([]string, steps)}}
	}
	two := "P1 and P2 both hold the lock"
	m := mutation{name: "m", breaks: twoHolders}
	if v, err := m.found([]explore.Result{{}, wrong("left over at the end: x", 1), wrong(two, 5), wrong(two, 4)}); err != nil || len(v.Steps) != 4 {
		t.Errorf("got %v, %v", v, err)
	}
	for _, results := range [][]explore.Result{nil, {{}}, {wrong("left over at the end: x", 1)}} {
		if v, err := m.found(results); err == nil {
			t.Errorf("%v: found %v", results, v)
		}
	}
	m.breaks = ""
	if v, err := m.found([]explore.Result{wrong(two, 1)}); err == nil {
		t.Errorf("without a property: found %v", v)
	}
}

func TestMutations(t *testing.T) {
	lab.NotShort(t, "the explorer computes for a minute")
	all := mutations()
	mutants, err := build(all, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range all {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			v, err := m.try(mutants[i])
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d steps: %s", len(v.Steps), v.What)
		})
	}
}

// TestMutationsApply: the function and the mark of each mutation exist.
func TestMutationsApply(t *testing.T) {
	for _, m := range mutations() {
		if _, err := overlay.Write(t.TempDir(), m.overlay()); err != nil {
			t.Errorf("mutation %q: %v", m.name, err)
		}
	}
}

// Violations that are known are found, too.
func TestKnownLimits(t *testing.T) {
	lab.NotShort(t, "the explorer computes for a minute")
	for _, c := range slices.Concat(knownLimits, copiedObjects) {
		x := explore.NewExplorer(c)
		r := x.Search(c.States)
		x.Close()
		if r.Wrong == nil {
			t.Errorf("%s: no violation, though one is described in doc.go", c.Name)
			continue
		}
		t.Log(counterexample(r.Wrong))
	}
}

// Every configuration that a mutation names exists. If not, its name has changed.
func TestMutationsHaveConfigurations(t *testing.T) {
	for _, m := range mutations() {
		o, err := parse([]string{"-config", m.config})
		if err != nil || len(o.tasks()) == 0 {
			t.Errorf("%s: no configuration is called %q (%v)", m.name, m.config, err)
		}
	}
}
