//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"locksmith/test/explorer/explore"
	"locksmith/test/overlay"
)

// A mutant is an explorer with a mutation.
type mutant struct {
	program string
	play    string // what its environment must say, if the program also has other mutations
}

// build builds explorers with mutations in dir: one for all mutations that can share it, and one
// for each other mutation.
func build(all []mutation, dir string) ([]mutant, error) {
	mutants := make([]mutant, len(all))
	variants := make([][]overlay.Edit, len(all))
	for i, m := range all {
		variants[i] = m.overlay()
	}
	list, apart, err := overlay.WriteVariants(dir, variants)
	if err != nil {
		return nil, err
	}
	program, cannot := compile(dir, list)
	for i, m := range all {
		mutants[i] = mutant{program, overlay.Play(i)}
		if cannot == nil && !slices.Contains(apart, i) {
			continue
		}
		// Or to find out which mutation cannot be compiled.
		if mutants[i], err = buildApart(variants[i], filepath.Join(dir, strconv.Itoa(i))); err != nil {
			return nil, fmt.Errorf("mutation %q: %w", m.name, err)
		}
	}
	return mutants, cannot
}

func buildApart(edits []overlay.Edit, dir string) (mutant, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return mutant{}, err
	}
	list, err := overlay.Write(dir, edits)
	if err != nil {
		return mutant{}, err
	}
	program, err := compile(dir, list)
	return mutant{program: program}, err
}

// compile builds an explorer in dir. It never uses the race detector, even if the test does: the
// explorer runs in one goroutine, and ten times faster without.
func compile(dir, list string) (program string, err error) {
	root, err := overlay.Root()
	if err != nil {
		return "", err
	}
	program = filepath.Join(dir, "explorer")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-overlay", list, "-o", program, "./test/explorer")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return program, nil
}

// overlay returns the mutation's edits, with packages named from the module's root.
func (m mutation) overlay() (all []overlay.Edit) {
	for _, e := range m.edits {
		all = append(all, overlay.Edit{Package: filepath.Join(m.in, e.in), In: e.function, Mark: e.mark, New: e.new})
	}
	return all
}

// try returns the violation to which the mutation leads in an explorer that has it. If there is
// none, or only violations of other properties than the mutation is to break, it returns an
// error.
func (m mutation) try(with mutant) (*explore.Violation, error) {
	results, err := m.explore(with)
	if err != nil {
		return nil, err
	}
	return m.found(results)
}

// found is the shortest violation of the property that the mutation breaks, of those that were
// found before the explorer had enough.
func (m mutation) found(results []explore.Result) (*explore.Violation, error) {
	if m.breaks == "" {
		return nil, fmt.Errorf("mutation %q does not say what it breaks", m.name)
	}
	var best *explore.Violation
	var others []string
	for _, r := range results {
		switch {
		case r.Wrong == nil:
		case !strings.Contains(r.Wrong.What, m.breaks):
			others = append(others, r.Name+": "+r.Wrong.What)
		case best == nil || len(r.Wrong.Steps) < len(best.Steps):
			best = r.Wrong
		}
	}
	if best == nil {
		return nil, fmt.Errorf("mutation %q was not found out by %s: want %q, got %q", m.name, m.config, m.breaks, others)
	}
	return best, nil
}

func (m mutation) explore(with mutant) ([]explore.Result, error) {
	args := []string{"-json", "-config", m.config, "-until", m.breaks}
	if m.limit > 0 {
		args = append(args, "-limit", strconv.Itoa(m.limit))
	}
	cmd := exec.Command(with.program, args...)
	cmd.Env = append(os.Environ(), with.play)
	out, err := cmd.Output()
	results, err := conclude(out, err)
	if err != nil {
		return nil, fmt.Errorf("%s: explore: %w", m.name, err)
	}
	return results, nil
}

// conclude parses the results of an explorer that has ended. The exit status must fit the
// results.
func conclude(out []byte, err error) (results []explore.Result, _ error) {
	state, ended := err.(*exec.ExitError)
	found := ended && state.ExitCode() == violation
	if err != nil && !found {
		return nil, err
	}
	if err := json.Unmarshal(out, &results); err != nil {
		return nil, err
	}
	if found != slices.ContainsFunc(results, failed) {
		return nil, fmt.Errorf("the exit status does not fit the results: %v", err)
	}
	return results, nil
}

func failed(r explore.Result) bool { return r.Wrong != nil || len(r.Missed) > 0 }
