//go:build linux

package nfslab

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// A mishap is a row of test/crash's matrix: what happens to a victim that waits for a
// lock or has it, while a rival on another host wants it, too.
type mishap struct {
	what     string
	few      bool // it is tried when not all are
	alone    bool // it happens to all hosts
	run      bool // the victim is locksmith run
	orphan   bool // nobody is left whom anybody could tell
	stops    bool // the victim stays stopped, and so cannot tell before the rival has the lock
	survives bool
	patient  bool              // who only waits survives it
	lease    time.Duration     // 0: the usual one
	not      map[string]string // moments that make no sense, and why
	prepare  func(*crash)
	inject   func(*crash)
	heal     func(*crash) // what takes it back; of who does not survive while the rival has the lock
	late     string       // when the lock is free, counted from when the mishap was over; "": at once, or after the lease
	either   bool         // a release may be called a loss, or not: it depends on how far it was
	want     expectation
}

// span is the victim's lease.
func (m mishap) span() time.Duration {
	if m.lease == 0 && m.alone {
		return aloneLease
	}
	return cmp.Or(m.lease, crashLease)
}

// An expectation is what a cell must be, but for times, by moment; "" stands for all
// others. There may be several outcomes, with semicolons between them.
type expectation map[string]string

func (e expectation) of(moment string) string {
	if want, known := e[moment]; known {
		return want
	}
	return e[""]
}

// allows reports that a cell is as it must be.
func (e expectation) allows(moment, seen string) bool {
	return slices.Contains(strings.Split(e.of(moment), "; "), measured.ReplaceAllString(seen, ""))
}

// mishaps is the matrix.
var mishaps = slices.Concat(ofProcesses, ofNetworks, ofMachines)

const (
	released   = ", output: OK, RELEASED"
	waitsOn    = "waits on, has it next" + released
	eitherSaid = ", output: OK, LOST or RELEASED"
	atOnce     = "free at once"
	afterLease = "free after the lease"
	// Its first request is under way, and comes to the server or not.
	anyRelease = atOnce + eitherSaid + "; " + afterLease + eitherSaid
	// Who has not said OK tries to have the lock until its parent lets go, or until that
	// makes no sense any more.
	notOKYet    = ", output: ERR"
	nobodyLeft  = ", output: nobody is left"
	afterReturn = "free once it is back"
	afterWaking = "free once they are awake"
)

var (
	// survives: nothing happens.
	survives = expectation{waiting: waitsOn, releasing: atOnce + released, "": "held on" + released}
	// dies: it is for the lease to decide, for nobody on another host can prove it.
	dies = expectation{
		waiting: atOnce + ", output: end of output", atOK: afterLease + ", output: end of output",
		releasing: atOnce + ", output: OK, end of output", "": afterLease + ", output: OK, end of output before that",
	}
	// isCutOff: it gives up by its own clock.
	isCutOff = expectation{
		waiting:   atOnce + released,
		atOK:      afterLease + notOKYet,
		releasing: anyRelease,
		"":        afterLease + ", output: OK, LOST before that",
	}
)

// but is the same with other cells.
func (e expectation) but(others expectation) expectation {
	all := maps.Clone(e)
	maps.Copy(all, others)
	return all
}
