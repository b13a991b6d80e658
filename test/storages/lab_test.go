//go:build linux

package storages

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"

	"locksmith/test/guest"
	"locksmith/test/lab"
)

var (
	long   = flag.Bool("long", false, "measure all storages")
	only   = flag.String("kinds", "", "measure the kinds of locks that match this `regexp`")
	update = flag.Bool("update", false, "write what was measured to the page")
	target = flag.Int("holds", 0, "measure so many `holds` of each lock before hosts are cut off and servers killed; 0: 500")
)

func TestMain(m *testing.M) { lab.Main(m, nil) }

const hosts = 3

// TestStorages boots a guest for each storage, as many at a time as there are processors.
func TestStorages(t *testing.T) {
	if guest.Inside() {
		return
	}
	if !*long {
		t.Skip("without -long no storage is measured, as each takes a minute of a processor and more")
	}
	l := guest.New(t, lab.Program(t, "cmd/locksmith"), lab.Program(t, "test/history/parent"))
	processors := guest.Processors(t)
	for _, s := range storages {
		t.Run(strings.ReplaceAll(s.name, " ", "_"), func(t *testing.T) {
			if s.cannot != "" {
				lab.Lacking(t, unmeasured+": "+s.cannot)
			}
			for program := range strings.FieldsSeq(s.programs) {
				lab.NeedProgram(t, program)
			}
			t.Parallel()
			cpu := <-processors
			defer func() { processors <- cpu }()
			s.measure(t, l, cpu)
		})
	}
}

// measure has the storage measured in a guest, and compares the result with the page.
func (s storage) measure(t *testing.T, l guest.Lab, cpu int) {
	n := 500
	if *target > 0 {
		n = *target
	}
	said := l.Boot(t, guest.Guest{
		Hosts: hosts, Disk: s.fs != "tmpfs", CPU: cpu, Run: "^TestGuest$",
		Settings: []string{"LAB_STORAGE=" + s.name, "LAB_SERVER=" + s.server, "LAB_FS=" + s.fs, "LAB_OPTIONS=" + s.options, "LAB_HOLDS=" + strconv.Itoa(n), "LAB_KINDS=" + *only},
	})
	if *only == "" {
		s.publish(t, said)
	}
}

// TestGuest runs in the guest, beside the server.
func TestGuest(t *testing.T) {
	if !guest.Inside() {
		return
	}
	s := here()
	r := newRecorder(t)
	all := r.contests(t, s)
	r.examine(t, all)
	n, err := strconv.Atoi(os.Getenv("LAB_HOLDS"))
	if err != nil {
		t.Fatal(err)
	}
	r.run(t, s, all, n)
	for _, c := range all {
		t.Run(c.kind.String(), c.report)
	}
}
