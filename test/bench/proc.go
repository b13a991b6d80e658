package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// A tally is how many context switches each thread had, by its path in /proc.
type tally map[string]uint64

// count adds the threads of one process.
func (t tally) count(pid int) error {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err == nil && len(threads) == 0 {
		err = fmt.Errorf("process %d is gone", pid)
	}
	if err != nil {
		return err
	}
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, key := range []string{"voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"} {
			n, err := number(text, key)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			t[path] += n
		}
	}
	return nil
}

// since returns the switches since an earlier tally; a new thread counts from
// its beginning.
func (t tally) since(before tally) uint64 {
	var sum uint64
	for path, n := range t {
		sum += n - before[path]
	}
	return sum
}

// pss returns a process's proportional set size in MiB: its own memory, and its
// share of what it has in common with others (proc_pid_smaps(5)).
func pss(pid int) (float64, error) {
	path := fmt.Sprintf("/proc/%d/smaps_rollup", pid)
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	kB, err := number(text, "Pss:")
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return float64(kB) / 1024, nil
}

// number returns the number after a key at the beginning of a line.
func number(text []byte, key string) (uint64, error) {
	for line := range bytes.Lines(text) {
		rest, ok := bytes.CutPrefix(line, []byte(key))
		if fields := bytes.Fields(rest); ok && len(fields) > 0 {
			return strconv.ParseUint(string(fields[0]), 10, 64)
		}
	}
	return 0, fmt.Errorf("no %s", key)
}
