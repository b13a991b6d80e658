//go:build linux

package nfslab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"locksmith/test/lab/holds"
)

// watch tells, once, all about a lock that nobody got for too long, while it
// still can be seen why.
func (h *history) watch(ctx context.Context, t *testing.T, lock string, tooLong time.Duration, pauses *standstill) {
	for ctx.Err() == nil {
		time.Sleep(500 * time.Millisecond)
		if last := h.lastTake(); last.Start > 0 && pauses.without(last.Start, now()) > tooLong {
			t.Logf("%.3f: nobody got %s after %v:\n%s%s", now().Seconds(), lock, last, shape(lock), processes(lock))
			return
		}
	}
}

func (h *history) lastTake() (last holds.Hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.held) > 0 {
		last = h.held[len(h.held)-1]
	}
	return last
}

// A standstill is when the guest itself did not run, or was far behind: the
// machine had other things to do. Nobody can be blamed for that time.
type standstill struct {
	mu     sync.Mutex
	pauses []pause
}

type pause struct{ from, to time.Duration }

// watch notices each time that a short sleep took long.
func (s *standstill) watch(ctx context.Context) {
	const short, long = 100 * time.Millisecond, 500 * time.Millisecond
	for ctx.Err() == nil {
		from := now()
		time.Sleep(short)
		if to := now(); to-from > long {
			s.mu.Lock()
			s.pauses = append(s.pauses, pause{from, to})
			s.mu.Unlock()
		}
	}
}

// without returns the time between two moments, less the pauses.
func (s *standstill) without(from, to time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := to - from
	for _, p := range s.pauses {
		d -= max(0, min(p.to, to)-max(p.from, from))
	}
	return d
}

// noOrphans makes sure that helpers do not outlive their parents for long. Who
// has no parent any more gets the host's first process for one.
func noOrphans(ctx context.Context, t *testing.T) {
	since := map[string]time.Duration{}
	for ctx.Err() == nil {
		time.Sleep(time.Second)
		for k := 1; k <= hosts; k++ {
			for _, pid := range children(hostInit(k)) {
				dir := fmt.Sprintf("/proc/%d", pid)
				argv, _ := os.ReadFile(dir + "/cmdline")
				if !strings.HasPrefix(string(argv), "locksmith") {
					continue
				}
				if _, known := since[dir]; !known {
					since[dir] = now()
				}
				if age := now() - since[dir]; age > 30*time.Second && age < time.Hour {
					t.Errorf("a helper without a parent for %v:\n%s", age, describe(dir))
					since[dir] = -2 * time.Hour // once is enough
				}
			}
		}
	}
}

// hostInit returns the first process of host k.
func hostInit(k int) (pid int) {
	text, _ := os.ReadFile(fmt.Sprintf("/mnt/lab/h%d", k))
	_, _ = fmt.Sscan(string(text), &pid)
	return pid
}

// shape lists a lock as the server has it: names, targets, and ages.
func shape(lock string) string {
	var b strings.Builder
	for _, path := range tree(lock) {
		full := onServer(lock) + path
		target, _ := os.Readlink(full)
		if info, err := os.Lstat(full); err == nil {
			fmt.Fprintf(&b, "  %s %q touched %.1f s ago\n", path, target, time.Since(info.ModTime()).Seconds())
		}
	}
	return b.String()
}

// processes lists the processes that have to do with a lock.
func processes(lock string) string {
	var b strings.Builder
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		argv, _ := os.ReadFile(dir + "/cmdline")
		if strings.Contains(string(argv), lock) && !strings.HasPrefix(string(argv), "nsenter") {
			b.WriteString(describe(dir))
		}
	}
	return b.String()
}

// describe shows one process, by its directory in /proc, and what its threads
// wait for in the kernel.
func describe(dir string) string {
	var b strings.Builder
	status, _ := os.ReadFile(dir + "/status")
	for s := range strings.Lines(string(status)) {
		switch key, _, _ := strings.Cut(s, ":"); key {
		case "State", "PPid", "NSpid":
			fmt.Fprintf(&b, "  %s", strings.ReplaceAll(strings.TrimSpace(s), "\t", " "))
		}
	}
	tasks, _ := filepath.Glob(dir + "/task/*/wchan")
	for _, task := range tasks {
		wchan, _ := os.ReadFile(task)
		fmt.Fprintf(&b, " %s", wchan)
	}
	argv, _ := os.ReadFile(dir + "/cmdline")
	fmt.Fprintf(&b, "\n    %s\n", strings.ReplaceAll(string(argv), "\x00", " "))
	return b.String()
}
