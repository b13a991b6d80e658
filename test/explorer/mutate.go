package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"locksmith/test/explorer/explore"
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

// build builds an explorer with mutated algorithms, into dir. Nothing in the source tree is
// changed: the compiler is told to read other files instead (go build -overlay).
func build(batch []mutation, dir string) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	overlay, err := write(batch, root, dir)
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "explorer")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-overlay", overlay, "-o", program, "./test/explorer")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return program, nil
}

// write writes the changed files of a batch into dir, and the list of them.
func write(batch []mutation, root, dir string) (string, error) {
	replace := map[string]string{}
	for i, m := range batch {
		if i > 0 && m.sameAs(batch[i-1]) {
			continue
		}
		if err := m.write(root, dir, replace); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, list, 0o600)
}

func (m mutation) write(root, dir string, replace map[string]string) error {
	for _, e := range m.edits {
		path := filepath.Join(root, m.in, e.file)
		source, err := os.ReadFile(cmp.Or(replace[path], path))
		if err != nil {
			return err
		}
		if n := strings.Count(string(source), e.old); n != 1 {
			return fmt.Errorf("mutation %q does not apply any more: this is %d times in %s, not once:\n%s", m.name, n, e.file, e.old)
		}
		if replace[path] == "" {
			replace[path] = filepath.Join(dir, fmt.Sprint(len(replace), filepath.Base(e.file)))
		}
		changed := strings.Replace(string(source), e.old, e.new, 1)
		if err := os.WriteFile(replace[path], []byte(changed), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func moduleRoot() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	return strings.TrimSpace(string(out)), err
}
