//go:build linux

package nfslab

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A tally is how many requests of each kind a host has sent for its mount.
type tally map[string]int

// calls reads host k's tally. It is that of the mount at /mnt/nfs alone.
func calls(t *testing.T, k int) tally {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountstats", hostInit(k)))
	if err != nil {
		t.Fatal(err)
	}
	all := parseMountstats(text)
	if len(all) == 0 {
		t.Fatalf("no statistics of %s:\n%s", mount, text)
	}
	return all
}

// parseMountstats finds lines of "KIND: operations transmissions …" between
// "per-op statistics" and an empty line, of the device that is at /mnt/nfs.
func parseMountstats(text []byte) tally {
	all := tally{}
	ours, ops := false, false
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		switch fields := strings.Fields(line); {
		case strings.HasPrefix(line, "device "):
			ours, ops = strings.Contains(line, " mounted on "+mount+" "), false
		case line == "per-op statistics":
			ops = true
		case ours && ops && len(fields) > 2:
			if n, err := strconv.Atoi(fields[1]); err == nil && n > 0 {
				all[strings.TrimSuffix(fields[0], ":")] = n
			}
		}
	}
	return all
}

func (a tally) since(before tally) tally {
	d := tally{}
	for kind, n := range a {
		if n > before[kind] {
			d[kind] = n - before[kind]
		}
	}
	return d
}

func (a tally) add(b tally) {
	for kind, n := range b {
		a[kind] += n
	}
}

func (a tally) sum() (n int) {
	for _, m := range a {
		n += m
	}
	return n
}

// perTime describes a tally, divided.
func (a tally) perTime(by float64) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(a)) {
		parts = append(parts, fmt.Sprintf("%s %.2f", kind, float64(a[kind])/by))
	}
	return strings.Join(parts, ", ")
}
