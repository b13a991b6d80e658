package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"locksmith/test/explorer/explore"
	"locksmith/test/overlay"
)

// batches are mutations that are built into one explorer: one of each algorithm, which no
// configuration of another one runs. What all share is mutated alone, for all of them in
// the same way.
func batches(all []mutation) [][]mutation {
	var alone, joint [][]mutation
	in := map[string]int{} // how many of an algorithm have their batch
	for _, m := range all {
		if m.shared() {
			if n := len(alone); n > 0 && alone[n-1][0].sameAs(m) {
				alone[n-1] = append(alone[n-1], m)
			} else {
				alone = append(alone, []mutation{m})
			}
			continue
		}
		i := in[m.in]
		in[m.in]++
		if i == len(joint) {
			joint = append(joint, nil)
		}
		joint[i] = append(joint[i], m)
	}
	return append(alone, joint...)
}

// shared reports whether other algorithms have the mutation, too.
func (m mutation) shared() bool {
	return m.in == watchDir || slices.ContainsFunc(m.edits, func(e edit) bool { return strings.HasPrefix(e.file, "..") })
}

// sameAs reports that two mutations, which different configurations find out, are one.
func (m mutation) sameAs(o mutation) bool { return m.in == o.in && slices.Equal(m.edits, o.edits) }

// try returns the violation that the mutation leads to in an explorer that has it. None is an
// error, and so are only such of other properties than it is to break.
func (m mutation) try(program string) (*explore.Violation, error) {
	results, err := m.explore(program)
	if err != nil {
		return nil, err
	}
	return m.found(results)
}

// found is the shortest violation of the property that the mutation breaks.
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

func (m mutation) explore(program string) ([]explore.Result, error) {
	args := []string{"-json", "-config", m.config}
	if m.limit > 0 {
		args = append(args, "-limit", strconv.Itoa(m.limit))
	}
	out, err := exec.Command(program, args...).Output()
	results, err := conclude(out, err)
	if err != nil {
		return nil, fmt.Errorf("%s: explore: %w", m.name, err)
	}
	return results, nil
}

// conclude reads the results of an explorer that has ended. Its exit status must be that of
// who found what they say.
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

// build builds an explorer with mutated algorithms, into dir.
func build(batch []mutation, dir string) (string, error) {
	root, err := overlay.Root()
	if err != nil {
		return "", err
	}
	list, err := overlay.Write(dir, edits(batch))
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "explorer")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-overlay", list, "-o", program, "./test/explorer")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return program, nil
}

// edits are those of a batch, in one list.
func edits(batch []mutation) (all []overlay.Edit) {
	for i, m := range batch {
		if i > 0 && m.sameAs(batch[i-1]) {
			continue
		}
		for _, e := range m.edits {
			all = append(all, overlay.Edit{File: filepath.Join(m.in, e.file), Old: e.old, New: e.new})
		}
	}
	return all
}
