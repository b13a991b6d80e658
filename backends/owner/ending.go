package owner

import (
	"fmt"
	"os/user"
	"strconv"
	"strings"

	"locksmith/backends/process"
)

// Ending says how to end the helper, for people. Whoever may write to a lock's place may put
// a record there that names any process, so a command that ends it is only named if it runs
// here, is called locksmith, and belongs to the user who is said to have the lock.
func (r Record) Ending() string {
	if pid := r.Helper.PID; !Here().sees(r.Place) || r.Helper.Gone() || !isLocksmith(process.Name(pid)) || !r.belongsTo(process.Owner(pid)) {
		return fmt.Sprintf("first look where it runs whether pid %d is a locksmith of %s", pid, r.User)
	}
	return fmt.Sprintf("end it with: kill %d", r.Helper.PID)
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
