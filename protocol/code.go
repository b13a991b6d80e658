package protocol

// A Code says in one word why a lock is not held: the code field of ERR and
// LOST lines.
type Code string

// The codes. Each stands for one exit status; see Exit.
const (
	Usage        Code = "usage"         // the request makes no sense
	Unreachable  Code = "unreachable"   // the place cannot be reached now
	Internal     Code = "internal"      // a fault of the helper or its system
	CannotCreate Code = "cannot_create" // the place is not fit for this lock
	Held         Code = "held"          // another holder has it
	Timeout      Code = "timeout"       // it was held for all the time given
	Cancelled    Code = "cancelled"     // the parent went away, or a signal came, before OK
	Permission   Code = "permission"    // not allowed
	Config       Code = "config"        // a configuration file is wrong
	Gone         Code = "gone"          // after OK: the lock is no longer there
	Expired      Code = "expired"       // after OK: the lease ran out unconfirmed
	Unreleased   Code = "unreleased"    // after OK: the lock could not be removed
	MaxHold      Code = "max_hold"      // after OK: it was held for as long as it may be
	Recent       Code = "recent"        // in events of run: done a short while ago, so not again
)

// Exit returns the helper's exit status for a code, after sysexits(3); an
// unknown code is internal.
func (c Code) Exit() int {
	switch c {
	case Recent:
		return 0
	case Usage:
		return 64
	case Unreachable:
		return 69
	case CannotCreate:
		return 73
	case Held, Timeout, Cancelled:
		return 75
	case Permission:
		return 77
	case Config:
		return 78
	case Gone, Expired, Unreleased:
		return 79
	case MaxHold: // as timeout(1) has it
		return 124
	}
	return 70
}

// BySignal plus n is the exit status of a helper, or of the command that it runs, which signal n
// ended. It is not the status of a code.
const BySignal = 128
