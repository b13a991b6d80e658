package bench

import (
	"bytes"
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
	for _, thread := range threads {
		var one, other, ran uint64
		// Unlike stat, schedstat counts in nanoseconds.
		for value, from := range map[*uint64][2]string{&one: {"/status", "voluntary_ctxt_switches:"}, &other: {"/status", "nonvoluntary_ctxt_switches:"}, &ran: {"/schedstat", ""}} {
			if err == nil {
				*value, err = number(thread+from[0], from[1])
			}
		}
		t[thread] = work{one + other, time.Duration(ran)}
	}
	return err
}

// since returns what was done since an earlier tally; a new thread counts from its
// beginning.
func (t tally) since(before tally) (sum work) {
	for thread, w := range t {
		sum.switches += w.switches - before[thread].switches
		sum.ran += w.ran - before[thread].ran
	}
	return sum
}

// pss returns a process's proportional set size in MiB: its own memory, and its
// share of what it has in common with others (proc_pid_smaps(5)).
func pss(pid int) (float64, error) {
	kB, err := number(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss:")
	return float64(kB) / 1024, err
}

// number returns the number after a key at the beginning of a line of a file.
func number(path, key string) (uint64, error) {
	text, err := os.ReadFile(path)
	for line := range bytes.Lines(text) {
		rest, ok := bytes.CutPrefix(line, []byte(key))
		if fields := bytes.Fields(rest); ok && len(fields) > 0 {
			return strconv.ParseUint(string(fields[0]), 10, 64)
		}
	}
	return 0, fmt.Errorf("%s: no %s (%v)", path, key, err)
}

// isAwake reports whether one of a process's threads runs, or would if it could.
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
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
			model = "× " + strings.TrimSpace(value)
		}
	}
	return fmt.Sprintf("%s, %d %s, Linux %s, load average before %s", time.Now().Format("2 January 2006"),
		runtime.NumCPU(), model, firstWord("/proc/sys/kernel/osrelease"), firstWord("/proc/loadavg"))
}

func firstWord(path string) string {
	text, _ := os.ReadFile(path)
	word, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	return word
}

// A usage is what processors did since the system started, in ticks.
type usage struct{ worked, stolen float64 }

// processors reads the first line of proc_stat(5).
func processors() (u usage) {
	text, _ := os.ReadFile("/proc/stat")
	var user, nice, system, idle, wait, irq, softirq float64
	_, _ = fmt.Sscanf(string(text), "cpu %g %g %g %g %g %g %g %g", &user, &nice, &system, &idle, &wait, &irq, &softirq, &u.stolen)
	u.worked = user + nice + system + irq + softirq
	return u
}

// stolenSince is a share of the time that processors should have worked since then: that in which
// the host of this virtual machine let others work.
func (u usage) stolenSince() string {
	now := processors()
	stolen := now.stolen - u.stolen
	return fmt.Sprintf("%.0f %%", 100*stolen/max(now.worked-u.worked+stolen, 1))
}
