// Package owner answers "who holds this lock, and is that holder dead?".
//
// A Record describes a holder. A backend stores it beside its lock. There are only two ways to
// believe that a holder is dead. Everything unclear counts against death.
//
//   - By proof: the holder lived on this very kernel (same machine id, host name, boot
//     id, pid and time namespace). Its helper is gone, and so is its parent, or everything
//     that inherited the lifeline of its command.
//     On a disk of one machine a boot since then proves it, too (VerdictOnDisk). What each proof
//     rests on is in the README of the directory above, with where it does not hold.
//   - By lease: somebody watched one heartbeat for a whole lease on its own
//     clock and saw no other (package watch).
//
// No time written by one machine is ever compared with the clock of another. The times in a
// record are for people.
package owner

import (
	"sync"
	"time"

	"locksmith/backends/clock"
	"locksmith/backends/process"
)

// A Place names one running kernel as one container sees it. If two processes have equal and
// complete places, they can look at each other through /proc, or on Windows by their pids.
type Place struct {
	Host    string // host name
	Machine string // machine-id(5), empty if there is none
	Boot    string // random, new at every boot (random(4), boot_id)
	PIDNS   string // pid namespace, like "pid:[4026531836]"
	TimeNS  string // time namespace; start times are shifted by it (time_namespaces(7))
}

// Here returns the place of this process, as it was at the first call. What cannot be read stays
// empty, which turns proof of death off.
func Here() Place { return here() }

var here = sync.OnceValue(look)

// sees reports that processes of q are visible in p.
func (p Place) sees(q Place) bool {
	return p == q && p.Host != "" && p.Machine != "" && p.Boot != "" && p.PIDNS != ""
}

// rebootedSince reports, by proof, that this machine was started since it recorded r. That the boot
// ids differ does not prove it, because systemd-nspawn and LXC give each container a boot id of its
// own. Nor does the time of the boot in /proc/stat, which moves when somebody sets the clock, and
// which LXCFS makes up for each container. But no process starts later than now. So who started
// later, by the machine's clock since boot, did so before the last boot. For a directory of several
// machines that proves nothing, because clones may share both names.
func (p Place) rebootedSince(r Record) bool {
	q := r.Place
	return p.Machine != "" && p.Machine == q.Machine && p.Host == q.Host && p.TimeNS == process.FirstTimeNS && q.TimeNS == p.TimeNS &&
		r.Helper.Start > uint64(clock.Boot{}.Now()/process.Tick)
}

// windowsPIDs stands for the pid namespace on Windows, which has one.
const windowsPIDs = "windows"

// A Verdict is what the kernel proves about a holder.
type Verdict string

// The verdicts. Only Dead allows anybody to break a lock.
const (
	Alive    Verdict = "alive"     // its helper runs on this machine
	Dead     Verdict = "dead"      // everything that may work under its lock is gone, by proof
	Orphaned Verdict = "left over" // its helper is gone, but what works under its lock may go on: the lease decides
	Unknown  Verdict = "unknown"   // it is elsewhere, or hidden: the lease decides
)

// Verdict judges the holder from here. It looks at the helper first: once the helper is gone,
// what it started can only become less.
func (r Record) Verdict(here Place) Verdict {
	switch {
	case !here.sees(r.Place):
		return Unknown
	case !r.Helper.Gone():
		return Alive
	case r.NoProof || r.Parent.PID != 0 && !r.Parent.Gone() || r.Lifeline != "" && !r.Orphans().Gone():
		return Orphaned
	}
	return Dead
}

// VerdictOnDisk is Verdict for a record on a disk that only this machine uses. There a holder from
// before the last boot is dead. If the boot ids differ, the holder may also be in a container that
// has a boot id of its own. In the pid namespace of the whole machine that makes no difference:
// there everybody can be seen, so who is not there has ended, by a boot or otherwise.
func (r Record) VerdictOnDisk(here Place) Verdict {
	its := r.Place
	switch {
	case its.Boot == here.Boot || its.Boot == "":
		return r.Verdict(here)
	case here.rebootedSince(r):
		return Dead
	case here.PIDNS != process.FirstPIDNS && here.PIDNS != windowsPIDs:
		return Unknown
	}
	r.Place.Boot = here.Boot
	if r.Verdict(here) != Dead {
		return Unknown // after a boot another process may have the same pid and start time
	}
	return Dead
}

// LeftBy reports, by proof, that the helper is gone and held the lock for this process. What
// that process says of its own work then takes the place of its death.
func (r Record) LeftBy(here Place, parent process.Process) bool {
	return here.sees(r.Place) && r.Helper.Gone() && !r.NoProof && r.Lifeline == "" &&
		parent.PID != 0 && r.Parent.PID == parent.PID && r.Parent.Start == parent.Start
}

// Orphans is a process value for everything that inherited the helper's lifeline, or none.
func (r Record) Orphans() process.Process {
	if r.Lifeline == "" {
		return process.Process{}
	}
	return process.Process{PID: r.Helper.PID, Start: r.Helper.Start, Lifeline: r.Lifeline}
}

// Lives returns the process whose end would change the verdict, or none.
func (r Record) Lives(here Place) (process.Process, bool) {
	if !here.sees(r.Place) {
		return process.Process{}, false
	}
	for _, p := range []process.Process{r.Helper, r.Parent, r.Orphans()} {
		if p.PID != 0 && !p.Gone() {
			return p, true
		}
	}
	return process.Process{}, false
}

// An Env is what an algorithm needs from the place where it runs.
type Env struct {
	// NewID returns a name that was never used before.
	NewID func() string
	// Judge looks for proof of death.
	Judge func(Record) Verdict
	// ToWatch returns the process whose end would change the verdict, if it can be seen from
	// here. Nil: no process can be watched.
	ToWatch func(Record) (process.Process, bool)
	// Today is the wall clock, for people and for places in a queue.
	Today func() time.Time
}

// NewEnv returns the Env of this process.
func NewEnv() Env {
	here := Here()
	return Env{
		NewID:   NewID,
		Judge:   func(r Record) Verdict { return r.Verdict(here) },
		ToWatch: func(r Record) (process.Process, bool) { return r.Lives(here) },
		Today:   time.Now,
	}
}

// Verdict judges by a record. Without a record nothing is known.
func (e Env) Verdict(r *Record) Verdict {
	if r == nil {
		return Unknown
	}
	return e.Judge(*r)
}

// ProcessToWatch returns the process whose end would change the verdict on a record, or none.
func (e Env) ProcessToWatch(r *Record) process.Process {
	if r == nil || e.ToWatch == nil {
		return process.Process{}
	}
	p, _ := e.ToWatch(*r)
	return p
}
