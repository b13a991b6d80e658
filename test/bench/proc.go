package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
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

// asleep waits until processes sleep, as those do that wait for a lock and not for a
// processor to start on: nearly all, in three looks one after the other. Those that ask
// all the time may never seem to, so that it does not wait for long.
func (b *bench) asleep(ctx context.Context, waiting []*holder) error {
	end := time.Now().Add(limit / 4)
	for looks := 0; looks < 3 && time.Now().Before(end); looks++ {
		if err := sleep(ctx, b.queue/3); err != nil {
			return err
		}
		awake := 0
		for _, w := range waiting {
			if isAwake(w.pid()) {
				awake++
			}
		}
		if awake*20 > len(waiting) {
			looks = -1
		}
	}
	return nil
}

// isAwake is whether one of a process's threads runs, or would if it could.
func isAwake(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, thread := range threads {
		stat, _ := os.ReadFile(thread)
		// After the name, which may have anything in it.
		if state := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]); len(state) > 0 && string(state[0]) != "S" {
			return true
		}
	}
	return false
}

// machine says where and when figures are measured, and how busy the machine is before.
func machine() string {
	model := "processors"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
				model = "× " + strings.TrimSpace(value)
			}
		}
	}
	return fmt.Sprintf("%s, %d %s, Linux %s, load average before %s", time.Now().Format("2 January 2006"),
		runtime.NumCPU(), model, firstWord("/proc/sys/kernel/osrelease"), firstWord("/proc/loadavg"))
}

// A usage is what processors did since the system started, in ticks.
type usage struct{ worked, stolen float64 }

// processors reads the first line of proc_stat(5).
func processors() (u usage) {
	text, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(text), "\n")
	var user, nice, system, idle, wait, irq, softirq float64
	_, _ = fmt.Sscanf(line, "cpu %g %g %g %g %g %g %g %g", &user, &nice, &system, &idle, &wait, &irq, &softirq, &u.stolen)
	u.worked = user + nice + system + irq + softirq
	return u
}

// stolenSince is the share of the time that processors should have worked since then, but
// in which the host of a virtual machine let others work.
func (u usage) stolenSince() string {
	now := processors()
	stolen := now.stolen - u.stolen
	return fmt.Sprintf("%.0f %%", 100*stolen/max(now.worked-u.worked+stolen, 1))
}

func firstWord(path string) string {
	text, _ := os.ReadFile(path)
	word, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	return word
}
