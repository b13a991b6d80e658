//go:build !linux

package process

// Name returns nothing: what a process is called is not known here.
func Name(int) string { return "" }

// Stopped reports whether a signal has stopped p, which is not known here.
func (Process) Stopped() bool { return false }

// Commands are the children of p with its lifeline. There are no lifelines here.
func (Process) Commands() []Process { return nil }

// Inheritors are the processes that have a lifeline. There are no lifelines here.
func (Process) Inheritors() []Process { return nil }

// UsesNamespace reports whether a process is in a pid namespace. There are none here.
func UsesNamespace(string) (used, known bool) { return false, false }

// IsChildOf reports whether q has started p, which is not known here.
func (Process) IsChildOf(Process) bool { return false }

// Owner is the user of the process with this pid, which is not known here.
func Owner(int) (uid int, known bool) { return 0, false }

// Arguments returns nothing: the arguments of a process are not known here.
func Arguments(int) []string { return nil }

// Tasks returns how many threads all processes of the machine have, which is not known here.
func Tasks() int { return 0 }
