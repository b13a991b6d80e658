//go:build linux

package soak

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A sample is what a holder needs at one moment.
type sample struct {
	at  time.Time
	cpu float64 // milliseconds of processor time since it started
	has [quantities]float64
}

// What must not grow.
const (
	memory  = iota // KiB: its own memory, and its share of what it has in common with others
	private        // KiB: the part of memory that is in no file
	descriptors
	threads
	names // in its place
	connections
	remembered // files in which tries remember what they saw
	quantities
)

var quantityNames = [quantities]string{"PSS KiB", "private KiB", "descriptors", "threads", "entries", "connections", "remembered"}

// look takes a sample of a holder that still holds its lock.
func (k *holder) look(t *testing.T) {
	t.Helper()
	select {
	case err := <-k.ended:
		t.Fatalf("%s: it holds its lock no more: %v; stderr:\n%s", k.name, err, k.Stderr())
	default:
	}
	proc := fmt.Sprintf("/proc/%d/", k.pid)
	rollup, err1 := os.ReadFile(proc + "smaps_rollup")
	status, err2 := os.ReadFile(proc + "status")
	stat, err3 := os.ReadFile(proc + "stat")
	fds, err4 := os.ReadDir(proc + "fd")
	cpu, err5 := processorTime(stat)
	clients, err6 := k.clients()
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		t.Fatalf("look at the holder of %s: %v", k.name, err)
	}
	k.samples = append(k.samples, sample{time.Now(), cpu, [quantities]float64{
		memory: number(t, rollup, "Pss:"), private: number(t, rollup, "Pss_Anon:"), threads: number(t, status, "Threads:"),
		descriptors: float64(len(fds)), names: float64(entries(k.dir)), connections: clients, remembered: k.memories(),
	}})
}

// number returns the number after a key at the beginning of a line.
func number(t *testing.T, text []byte, key string) float64 {
	t.Helper()
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(line, key)
		if f := strings.Fields(rest); ok && len(f) > 0 {
			n, err := strconv.ParseFloat(f[0], 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("no %s in /proc", key)
	return 0
}

// processorTime reads proc_pid_stat(5): utime and stime, in hundredths of a second, are
// the 12th and 13th field after the program's name.
func processorTime(stat []byte) (float64, error) {
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("%q is not as proc_pid_stat(5) has it", stat)
	}
	user, err1 := strconv.ParseFloat(fields[11], 64)
	system, err2 := strconv.ParseFloat(fields[12], 64)
	return 10 * (user + system), errors.Join(err1, err2)
}

// memories counts the files in which the place's visitors remember what they saw.
func (p place) memories() (n float64) {
	for _, dir := range p.memory {
		n += float64(max(entries(dir), 1) - 1) // without the directory itself
	}
	return n
}

// clients counts the established connections to the place's server, as proc_pid_net(5) lists
// them; 0 if the place has no server.
func (p place) clients() (n float64, err error) {
	if p.server == "" {
		return 0, nil
	}
	server, err := netip.ParseAddrPort(p.server)
	if err != nil {
		return 0, err
	}
	const established = "01"
	port := fmt.Sprintf(":%04X", server.Port())
	v4, err := os.ReadFile("/proc/net/tcp")
	v6, _ := os.ReadFile("/proc/net/tcp6") // which not all kernels have
	for line := range strings.Lines(string(v4) + string(v6)) {
		if f := strings.Fields(line); len(f) > 3 && strings.HasSuffix(f[1], port) && f[3] == established {
			n++
		}
	}
	return n, err
}
