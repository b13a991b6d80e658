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

// Ending tells people how to end a living helper, or how to let it go on if it is stopped.
func (r Record) Ending() string {
	switch e := r.Endings(); {
	case e.First != "":
		return "first " + e.First
	case e.GoOn == "":
		return "end it with: " + e.End
	case e.End == "":
		return "let it go on with: " + e.GoOn
	default:
		return "let it go on with: " + e.GoOn + "; or end it with: " + e.End
	}
}

// Endings are commands for a living helper, each of which may be empty.
type Endings struct {
	GoOn  string // lets it go on, if it is stopped
	End   string // ends it
	First string // what to find out first, in words; then there is no command
}

// Endings returns what may be done to a living helper. Whoever may write to a lock's place may put a
// record there that names any process. So there is a command only for a process that runs here, is
// called locksmith, and belongs to the user who is said to have the lock, and if no other user keeps the
// record. A stopped process does not heed SIGTERM, so there it is not advised.
func (r Record) Endings() Endings {
	if keeper := r.OtherKeeper(); keeper != "" {
		return Endings{First: fmt.Sprintf("find out whose it is: by the record it is of %s, but the record is in a file of %s", r.User, keeper)}
	}
	pid := r.Helper.PID
	if !Here().sees(r.Place) || r.Helper.Gone() || !isLocksmith(process.Name(pid)) || !r.belongsTo(process.Owner(pid)) {
		return Endings{First: fmt.Sprintf("look where it runs whether pid %d is a locksmith of %s", pid, r.User)}
	}
	stopped := r.Stopped()
	if len(stopped) == 0 {
		return Endings{End: fmt.Sprintf("kill %d", pid)}
	}
	e := Endings{GoOn: "kill -CONT " + pids(stopped)}
	switch {
	case stopped[0] != r.Helper:
		e.End = "kill -9 " + pids(stopped)
	case r.Parent.PID == 0 || r.Parent.Gone(): // its command dies with it
		e.End = fmt.Sprintf("kill -9 %d", pid)
	case r.hasParent():
		e.End = fmt.Sprintf("kill -9 %d %d", pid, r.Parent.PID)
	}
	return e
}

// hasParent reports whether the parent on record is the helper's parent, and belongs to the same
// user.
func (r Record) hasParent() bool {
	return r.Helper.IsChildOf(r.Parent) && r.belongsTo(process.Owner(r.Parent.PID))
}

// Of the helper and the program or command for which it holds the lock, Stopped returns those
// that a signal has stopped, the helper first.
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

// guarded is the program for which the helper holds the lock, or else the command that the helper
// runs.
func (r Record) guarded() []process.Process {
	switch {
	case r.Parent.PID != 0:
		return []process.Process{r.Parent}
	case r.Lifeline == "" || r.Helper.Gone():
		return nil
	}
	return r.Helper.Commands()
}

// Guarded is the process whose name Program is: the program for which the helper holds the lock,
// or the command that the helper runs. It is empty if it is not on record and cannot be seen from
// here.
func (r Record) Guarded() process.Process {
	if r.Parent.PID != 0 {
		return r.Parent
	}
	if all := r.guarded(); Here().sees(r.Place) && len(all) == 1 {
		return all[0]
	}
	return process.Process{}
}

// Left are the processes that work on after their helper has gone, as far as we may look at them:
// the program for which the helper held the lock, or what its command started.
func (r Record) Left() []process.Process {
	switch {
	case !Here().sees(r.Place) || !r.Helper.Gone():
		return nil
	case r.Parent.PID != 0 && !r.Parent.Gone():
		return []process.Process{r.Parent}
	}
	return r.Orphans().Inheritors()
}

// EndingLeft is the command that ends what is Left. It is empty if nobody should do that because
// of this record alone. Nothing shows any more that a parent was that helper's. And if the maker
// of a lifeline is still there, that lifeline belongs to a run that lives.
func (r Record) EndingLeft() string {
	all := r.Left()
	foreign := func(p process.Process) bool {
		return p == r.Parent || p.PID == r.Helper.PID || !r.belongsTo(process.Owner(p.PID))
	}
	switch {
	case len(all) == 0 || r.OtherKeeper() != "" || slices.ContainsFunc(all, foreign):
		return ""
	case slices.ContainsFunc(all, process.Process.Stopped):
		return "kill -9 " + pids(all)
	}
	return "kill " + pids(all)
}

// Named lists processes for people: "pid 4242 (sleep), pid 4243 (sh)".
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

// UserName is the name of a user for people, or its number if it has no name here.
func UserName(uid uint32) string {
	number := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(number); err == nil {
		return u.Username
	}
	return number
}

// OtherKeeper names the Keeper, if that is neither root nor the record's user; else it is empty. Such a
// record may be a copy, so it proves nothing about processes of its user.
func (r Record) OtherKeeper() string {
	if r.Keeper == 0 || r.belongsTo(int(r.Keeper), true) {
		return ""
	}
	return UserName(r.Keeper)
}

// belongsTo reports whether a user is known and is the record's user.
func (r Record) belongsTo(uid int, known bool) bool {
	if !known {
		return false
	}
	number := strconv.Itoa(uid)
	u, err := user.LookupId(number)
	return r.User == number || err == nil && u.Username == r.User
}

// Stranger names the user whose something is, if that is neither root nor the user that we are in the
// lock's place; else it is empty. User 0 is root, or not known. If the numbers of users are another
// machine's, a number is all that can be told.
func Stranger(user, we uint32, numbersAreOurs bool) string {
	switch {
	case user == 0 || user == we:
		return ""
	case numbersAreOurs:
		return UserName(user)
	}
	return strconv.FormatUint(uint64(user), 10)
}
