//go:build linux

package nfslab

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"locksmith/test/guest"
	"locksmith/test/lab"
)

var chosen = flag.String("scenarios", "", "run the scenarios that match this `regexp`, and of them the subtests after a slash, in every cell that runs")

// TestMain lets what runs side by side in the guest wait side by side.
func TestMain(m *testing.M) {
	if guest.Inside() {
		lab.Parallel(8)
	}
	lab.Main(m, nil)
}

// A cell is one version of NFS over one file system.
type cell struct{ version, fs string }

func (c cell) String() string { return "v" + c.version + "-" + c.fs }

// here is the cell that the guest is.
func here() cell { return cell{os.Getenv("LAB_VERS"), os.Getenv("LAB_FS")} }

// cells are all. Of the versions 3 has no state at the server and the coarsest view of
// changes, 4.2 the most of both; ext4 counts in clock ticks.
var cells = []cell{
	{"4.2", "tmpfs"}, {"3", "ext4"}, {"4.1", "ext4"}, {"4.0", "tmpfs"},
	{"3", "tmpfs"}, {"4.2", "ext4"}, {"4.1", "tmpfs"}, {"4.0", "ext4"},
}

// A scenario runs in a fresh directory.
type scenario struct {
	name string
	// where it runs unless -scenarios chooses: a regexp of cells
	where string
	// alone: it stops the server, or counts requests, and nothing runs beside it
	alone bool
	run   func(*testing.T)
}

var scenarios = []scenario{
	{"exclusive", `v3-ext4`, true, exclusive},
	{"shared", `v4.2-tmpfs`, true, shared},
	{"restart", `v3-ext4`, true, restart},
	{"chaos", `v4.2-tmpfs`, true, chaos},
	{"requests", `v4.2-tmpfs`, true, requests},
	{"handoff", `^$`, true, handoff}, // it compares times
	{"waiters", `^$`, true, waiters},
	{"increments", `^$`, true, increments},
	{"crashes", `^$`, true, crashes},
	{"crash", `v3-ext4|v4.2-tmpfs`, false, someCrashes},
	{"proof", `v3-ext4`, false, proof},
	{"reader", `v3-ext4`, false, reader},
	{"stale", `v3-ext4|v4.2-tmpfs`, false, stale},
	{"mounted", `v3-ext4|v4.2-tmpfs`, false, mounted},
	{"others", `v4.2-tmpfs`, false, others},
	{"trouble", `v4.2-tmpfs`, false, trouble},
	{"squashed", `v3-ext4`, false, squashed},
}

// pattern matches the scenarios of a cell, for go test -run; "": there are none.
func (c cell) pattern() string {
	if *chosen != "" {
		return "^TestGuest$/" + *chosen
	}
	var names []string
	for _, s := range scenarios {
		if regexp.MustCompile(s.where).MatchString(c.String()) {
			names = append(names, s.name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "^TestGuest$/^(" + strings.Join(names, "|") + ")$"
}

// TestLab boots one guest for each cell that has scenarios, as many at a time as guest.Processors
// lets.
func TestLab(t *testing.T) {
	if guest.Inside() {
		return
	}
	lab.NotShort(t, "the lab takes minutes")
	l := guest.New(t, lab.Program(t, "cmd/locksmith"), lab.Program(t, "test/bench/looper"))
	processors := guest.Processors(t)
	for _, c := range cells {
		if c.pattern() == "" {
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			cpu := <-processors
			defer func() { processors <- cpu }()
			keepCells(t, l.Boot(t, guest.Guest{
				Hosts: hosts, Disk: c.fs != "tmpfs", Settings: []string{"LAB_VERS=" + c.version, "LAB_FS=" + c.fs},
				Run: c.pattern(), CPU: cpu,
			}))
		})
	}
}

// TestGuest runs in the guest, beside the server.
func TestGuest(t *testing.T) {
	if !guest.Inside() {
		return
	}
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			if !s.alone {
				t.Parallel()
			}
			s.run(t)
		})
	}
}
