//go:build linux

package nfslab

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// A cell is one way of mounting one file system.
type cell struct{ version, fs string }

func (c cell) String() string { return "v" + c.version + "-" + c.fs }

// here is the cell that the guest is.
func here() cell { return cell{os.Getenv("NFSLAB_VERS"), os.Getenv("NFSLAB_FS")} }

var cells = []cell{
	{"4.2", "tmpfs"}, {"3", "ext4"}, {"4.1", "ext4"}, {"4.0", "tmpfs"},
	{"3", "tmpfs"}, {"4.2", "ext4"}, {"4.1", "tmpfs"}, {"4.0", "ext4"},
}

// A scenario runs in a fresh directory.
type scenario struct {
	name  string
	where string // regexp of cells; expensive ones need not run in all
	run   func(*testing.T)
}

// scenarios is what runs. Of the versions 3 has no state at the server and the
// coarsest view of changes, 4.2 the most of both; ext4 counts in clock ticks.
var scenarios = []scenario{
	{"exclusive", ``, exclusive},
	{"shared", ``, shared},
	{"killed", ``, killed},
	{"reader", ``, reader},
	{"stale", ``, stale},
	{"others", `v3-ext4|v4.2-tmpfs`, others},
	{"cut", `v3-tmpfs|v4.2-ext4`, cut},
	{"restart", `v3-tmpfs|v4.1-tmpfs|v4.0-ext4`, restart},
	{"clock", `v4.1-ext4`, stepped},
	{"crash", `v3-ext4|v4.2-ext4`, someCrashes},
	{"crashes", `^$`, crashes}, // only when it is chosen
	{"trouble", `v4.2-ext4|v3-tmpfs`, trouble},
	{"squashed", `v3-tmpfs|v4.1-ext4`, squashed},
	{"requests", `tmpfs`, requests},
	{"waiters", `v4.0-tmpfs`, waiters},
	{"handoff", `v4.1-ext4`, handoff},
	{"increments", `v4.1-tmpfs`, increments},
	{"chaos", `v4.2-tmpfs`, chaos},
}

// pattern matches the scenarios of a cell, for go test -run; "": there are none.
func (c cell) pattern() string {
	var names []string
	chosen, inside, divided := strings.Cut(*chosen, "/")
	for _, s := range scenarios {
		if chosen != "" && regexp.MustCompile(chosen).MatchString(s.name) ||
			chosen == "" && regexp.MustCompile(s.where).MatchString(c.String()) {
			names = append(names, s.name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	all := "^(" + strings.Join(names, "|") + ")$"
	if divided {
		all += "/" + inside
	}
	return all
}

// TestGuest runs in the guest.
func TestGuest(t *testing.T) {
	if !inGuest() {
		t.Skip("not in the guest: TestLab boots it")
	}
	for _, s := range scenarios {
		t.Run(s.name, s.run)
	}
}
