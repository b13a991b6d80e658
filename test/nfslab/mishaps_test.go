//go:build linux

package nfslab

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"locksmith/test/lab/mishaps"
)

// A mishap is how a row of the table is provoked here, and what its victim does.
type mishap struct {
	mishaps.Mishap
	few      bool // it is tried when not all are
	alone    bool // it happens to all hosts
	stops    bool // the victim stays stopped, and so cannot tell before the rival has the lock
	survives bool
	patient  bool          // who only waits survives it
	lease    time.Duration // 0: the usual one
	prepare  func(*crash)
	inject   func(*crash)
	heal     func(*crash) // what takes it back; of who does not survive while the rival has the lock
	late     string       // when the lock is free, counted from when the mishap was over; "": at once, or after the lease
}

// span is the victim's lease.
func (m mishap) span() time.Duration {
	if m.lease == 0 && m.alone {
		return aloneLease
	}
	return cmp.Or(m.lease, crashLease)
}

// provoked are all.
var provoked = slices.Concat(ofProcesses, ofNetworks, ofMachines)

// TestCover: all that may happen to a lock happens here, but for this.
func TestCover(t *testing.T) {
	var all []mishaps.Mishap
	for _, m := range provoked {
		all = append(all, m.Mishap)
	}
	const set = "here clocks are really set"
	mishaps.Cover(t, all, map[string]string{
		mishaps.FilesAhead.What: set, mishaps.FilesBack.What: set,
		mishaps.KilledElsewhen.What: "on another host no process proves anything, whatever its clock",
	})
}
