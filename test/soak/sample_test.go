package soak

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// A sample is what a holder needs at one moment.
type sample struct {
	at      time.Time
	memory  float64 // KiB: its own, and its share of what it has in common with others (PSS)
	private float64 // KiB: that part of it which is in no file
	files   float64 // open descriptors
	threads float64
	cpu     float64 // milliseconds of processor time since it started
	entries float64 // names in its place
	clients float64 // connections to its place's server
}

// look takes a sample of a holder that still holds its lock.
func (k *holder) look() (sample, error) {
	select {
	case err := <-k.ended:
		return sample{}, k.explain(fmt.Errorf("%s: it holds its lock no more: %w", k.name, cmp.Or(err, io.EOF)))
	default:
	}
	pid := k.cmd.Process.Pid
	s := sample{at: time.Now(), entries: float64(k.entries())}
	rollup, err1 := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	status, err2 := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	stat, err3 := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fds, err4 := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	clients, err5 := connections(k.port)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return s, fmt.Errorf("look at the holder of %s: %w", k.name, err)
	}
	s.memory, err1 = number(rollup, "Pss:")
	s.private, err2 = number(rollup, "Pss_Anon:")
	s.threads, err3 = number(status, "Threads:")
	s.cpu, err4 = processorTime(stat)
	s.files, s.clients = float64(len(fds)), clients
	return s, errors.Join(err1, err2, err3, err4)
}

// number returns the number after a key at the beginning of a line.
func number(text []byte, key string) (float64, error) {
	for line := range bytes.Lines(text) {
		rest, ok := bytes.CutPrefix(line, []byte(key))
		if fields := bytes.Fields(rest); ok && len(fields) > 0 {
			return strconv.ParseFloat(string(fields[0]), 64)
		}
	}
	return 0, fmt.Errorf("no %s in /proc", key)
}

// processorTime reads proc_pid_stat(5): utime and stime, in hundredths of a second, are
// the 12th and 13th field after the program's name.
func processorTime(stat []byte) (float64, error) {
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("%q is not as proc_pid_stat(5) has it", stat)
	}
	user, err1 := strconv.ParseFloat(fields[11], 64)
	system, err2 := strconv.ParseFloat(fields[12], 64)
	return 10 * (user + system), errors.Join(err1, err2)
}

// connections counts those to a port of this machine that are established, as
// proc_pid_net(5) lists them; none to port 0.
func connections(port int) (n float64, err error) {
	if port == 0 {
		return 0, nil
	}
	var text []byte
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		more, err := os.ReadFile(table)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return 0, err
		}
		text = append(text, more...)
	}
	const established = "01"
	server := fmt.Sprintf(":%04X", port)
	for line := range bytes.Lines(text) {
		if f := strings.Fields(string(line)); len(f) > 3 && strings.HasSuffix(f[1], server) && f[3] == established {
			n++
		}
	}
	return n, nil
}
