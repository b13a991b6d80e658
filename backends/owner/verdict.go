package owner

import "locksmith/backends/process"

// A Verdict is what the kernel proves about a holder.
type Verdict string

// The verdicts. Only Dead permits anything.
const (
	Alive    Verdict = "alive"    // its helper runs on this machine
	Dead     Verdict = "dead"     // all that may work under its lock is gone, by proof
	Orphaned Verdict = "orphaned" // its helper is gone, what works under its lock may go on: the lease decides
	Unknown  Verdict = "unknown"  // elsewhere, or hidden: the lease decides
)

// Verdict judges the holder from here. First the helper: what one that is gone has
// started can only become less.
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

// Orphans are what inherited the helper's lifeline, or none.
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

// VerdictOn is what judge says of a record. Without one nothing is known.
func VerdictOn(r *Record, judge func(Record) Verdict) Verdict {
	if r == nil {
		return Unknown
	}
	return judge(*r)
}

// ProcessToWatch is the process whose end would change the verdict on a record, or none.
// lives, which may be nil, is Lives for the place where we are.
func ProcessToWatch(r *Record, lives func(Record) (process.Process, bool)) process.Process {
	if r == nil || lives == nil {
		return process.Process{}
	}
	p, _ := lives(*r)
	return p
}
