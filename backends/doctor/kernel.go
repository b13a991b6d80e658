package doctor

import (
	"locksmith/backends/backend"
	"locksmith/backends/lockfile"
	"locksmith/protocol"
)

// OfFiles examines a place for locks that are files, which the kernel of this machine locks.
func OfFiles(lock backend.Name, tell backend.Tell) Examiner {
	return Examiner{
		Tell: tell, Thing: "file",
		Unanswered: backend.Unclear,
		Fail: func(op string, err error) error {
			return lock.Failure(protocol.Unreachable, op, err, "look at the disk")
		},
	}
}

// KernelLock checks that of two descriptors of a new file one gets the kernel lock, and the other is
// refused. It tells what is wrong, followed by what would come of two that had the lock.
func (x *Examiner) KernelLock(one, other *lockfile.File, ofTwo, advice string) (fit bool) {
	const name = "kernel lock"
	if mine, err := one.TryLock(); err != nil || !mine {
		x.Tell.Unfit(name, "a new file cannot be locked: "+NotLocked(err), advice)
		return false
	}
	switch both, err := other.TryLock(); {
	case both:
		x.Tell.Unfit(name, "two had the same file locked"+ofTwo, advice)
	case err != nil:
		x.Tell.Unfit(name, "a locked file is not told to be so: "+err.Error(), advice)
	default:
		return true
	}
	return false
}

// NotLocked is why a file could not be locked, by what was returned.
func NotLocked(err error) string {
	if err == nil {
		return "somebody else has it"
	}
	return err.Error()
}

// OneMachine refuses a place that may be shared between machines, for locks that only the kernel
// of each of them knows. fail explains a failed call, and advice is what to do instead.
func OneMachine(lock backend.Name, place, advice string, fail func(op string, err error) error) error {
	op := "look at file system of " + place
	name, err := Remote(place)
	switch {
	case err != nil:
		return fail(op, err)
	case name == "":
		return nil
	}
	return lock.Unfit(op, name+" may be shared between machines, and their kernels do not know each other's locks", advice)
}
