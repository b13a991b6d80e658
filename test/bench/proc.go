package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// A tally is what each thread has done so far, by its directory in /proc.
type tally map[string]work

// work is how often the kernel switched to a thread, and how long it ran.
type work struct {
	switches uint64
	ran      time.Duration
}

// count adds the threads of one process.
func (t tally) count(pid int) error {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err == nil && len(threads) == 0 {
		err = fmt.Errorf("process %d is gone", pid)
	}
	if err != nil {
		return err
	}
	for _, thread := range threads {
		if t[thread], err = workOf(thread); err != nil {
			return err
		}
	}
	return nil
}

func workOf(thread string) (w work, err error) {
	status, err := os.ReadFile(thread + "/status")
	if err != nil {
		return w, err
	}
	for _, key := range []string{"voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"} {
		n, err := number(status, key)
		if err != nil {
			return w, fmt.Errorf("%s/status: %w", thread, err)
		}
		w.switches += n
	}
	// Unlike stat it counts in nanoseconds.
	schedule, err := os.ReadFile(thread + "/schedstat")
	if err != nil {
		return w, err
	}
	ran, err := number(append([]byte("ran "), schedule...), "ran")
	w.ran = time.Duration(ran)
	return w, err
}

// since returns what was done since an earlier tally; a new thread counts from its
// beginning.
func (t tally) since(before tally) (switches uint64, ran time.Duration) {
	for thread, w := range t {
		switches += w.switches - before[thread].switches
		ran += w.ran - before[thread].ran
	}
	return switches, ran
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
