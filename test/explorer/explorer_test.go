package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"locksmith/test/explorer/explore"
)

// The explorer is built here without the race detector, whatever the test is run
// with: it explores in one goroutine, and ten times faster without.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "explorer")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return program
}

// leastSteps is how many steps a run explores at least.
const leastSteps = 10_000_000

func TestAlgorithm(t *testing.T) {
	cmd := exec.Command(build(t), "-json")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var results []explore.Result
	if wrong := json.Unmarshal(out, &results); wrong != nil {
		t.Fatalf("the explorer ended with %v and no results: %v", err, wrong)
	}
	var steps uint64
	for _, r := range results {
		steps += r.Steps
		t.Log(describe(r))
		if r.Wrong != nil {
			t.Errorf("%s: %s", r.Name, story(r.Wrong))
		}
		for _, what := range r.Missed {
			t.Errorf("%s: not met, though doc.go says that it happens: %s", r.Name, what)
		}
	}
	if err == nil && steps < leastSteps {
		t.Errorf("only %d steps", steps)
	}
}

func TestMutations(t *testing.T) {
	for _, m := range mutations() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			v, err := m.try()
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d steps: %s", len(v.Steps), v.What)
		})
	}
}

// What is known not to hold is found, too.
func TestKnownLimits(t *testing.T) {
	for _, c := range knownLimits {
		x := explore.NewExplorer(c)
		r := x.Search(c.States)
		x.Close()
		if r.Wrong == nil {
			t.Errorf("%s: no violation, though one is described in doc.go", c.Name)
			continue
		}
		t.Log(story(r.Wrong))
	}
}

// Every configuration that a mutation needs is there, or its name has changed.
func TestMutationsHaveConfigurations(t *testing.T) {
	for _, m := range mutations() {
		o, err := parse([]string{"-config", m.config})
		if err != nil || len(o.tasks()) == 0 {
			t.Errorf("%s: no configuration is called %q (%v)", m.name, m.config, err)
		}
	}
}
