package owner

import (
	"cmp"
	"fmt"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"locksmith/backends/process"
)

// Ending says how to end a helper that lives, or how to let it go on if it is stopped, for
// people. Whoever may write to a lock's place may put a record there that names any process, so
// a command is only named for one that runs here, is called locksmith, and belongs to the user
// who is said to have the lock. A process that is stopped does not heed SIGTERM.
func (r Record) Ending() string {
	pid := r.Helper.PID
	if !Here().sees(r.Place) || r.Helper.Gone() || !isLocksmith(process.Name(pid)) || !r.belongsTo(process.Owner(pid)) {
		return fmt.Sprintf("first look where it runs whether pid %d is a locksmith of %s", pid, r.User)
	}
	stopped := r.Stopped()
	if len(stopped) == 0 {
		return fmt.Sprintf("end it with: kill %d", pid)
	}
	goOn := "let it go on with: kill -CONT " + pids(stopped)
	switch {
	case stopped[0] != r.Helper:
		return goOn + "; or end it with: kill -9 " + pids(stopped)
	case r.Parent.PID == 0 || r.Parent.Gone(): // its command dies with it
		return fmt.Sprintf("%s; or end it with: kill -9 %d", goOn, pid)
	case r.hasParent():
		return fmt.Sprintf("%s; or end it with: kill -9 %d %d", goOn, pid, r.Parent.PID)
	}
	return goOn
}

// hasParent reports that the parent on record is the helper's, and of the same user.
func (r Record) hasParent() bool {
	return r.Helper.IsChildOf(r.Parent) && r.belongsTo(process.Owner(r.Parent.PID))
}

// Stopped are those of the helper and of what it holds the lock for, the program or the command,
// that a signal has stopped: the helper first.
func (r Record) Stopped() (all []process.Process) {
	if !Here().sees(r.Place) || r.Helper.Gone() {
		return nil
	}
	for _, p := range append([]process.Process{r.Helper}, r.guarded()...) {
		if p.Stopped() && (p != r.Parent || r.hasParent()) && r.belongsTo(process.Owner(p.PID)) {
			all = append(all, p)
		}
	}
	return all
}

// guarded is the program that the helper holds the lock for, or else the command that it runs.
func (r Record) guarded() []process.Process {
	switch {
	case r.Parent.PID != 0:
		return []process.Process{r.Parent}
	case r.Helper.Gone():
		return nil
	}
	return r.Helper.Commands(r.Lifeline)
}

// Guarded is the process whose name Program is: the program that the helper holds the lock for,
// or the command that it runs. It is none if it cannot be seen from here, and is not on record.
func (r Record) Guarded() process.Process {
	if r.Parent.PID != 0 {
		return r.Parent
	}
	if all := r.guarded(); Here().sees(r.Place) && len(all) == 1 {
		return all[0]
	}
	return process.Process{}
}

// Left are the processes that work on after their helper has gone: the program that it held the
// lock for, or what its command started, as far as we may look at them.
func (r Record) Left() []process.Process {
	switch {
	case !Here().sees(r.Place) || !r.Helper.Gone():
		return nil
	case r.Parent.PID != 0 && !r.Parent.Gone():
		return []process.Process{r.Parent}
	}
	return r.Orphans().Inheritors()
}

// EndingLeft says how to end what is Left, for people; "" if nobody should on the word of this
// record: of a parent nothing shows any more that it was that helper's, and a lifeline whose
// maker is there is that of a run that lives.
func (r Record) EndingLeft() string {
	all := r.Left()
	foreign := func(p process.Process) bool {
		return p == r.Parent || p.PID == r.Helper.PID || !r.belongsTo(process.Owner(p.PID))
	}
	switch {
	case len(all) == 0 || slices.ContainsFunc(all, foreign):
		return ""
	case slices.ContainsFunc(all, process.Process.Stopped):
		return "end it with: kill -9 " + pids(all)
	}
	return "end it with: kill " + pids(all)
}

// Named names processes for people: "pid 4242 (sleep), pid 4243 (sh)".
func Named(all []process.Process) string {
	var names []string
	for _, p := range all {
		names = append(names, fmt.Sprintf("pid %d (%s)", p.PID, cmp.Or(process.Name(p.PID), "?")))
	}
	return strings.Join(names, ", ")
}

// pids are the arguments of kill(1).
func pids(all []process.Process) string {
	var words []string
	for _, p := range all {
		words = append(words, strconv.Itoa(p.PID))
	}
	return strings.Join(words, " ")
}

func isLocksmith(name string) bool { return strings.HasPrefix(name, "locksmith") }

// belongsTo reports that a user, if it is known, is the record's.
func (r Record) belongsTo(uid int, known bool) bool {
	if !known {
		return false
	}
	number := strconv.Itoa(uid)
	u, err := user.LookupId(number)
	return r.User == number || err == nil && u.Username == r.User
}
