//go:build !linux

package process

// Name is what the process that has this pid is called: here that is not known.
func Name(int) string { return "" }

// Stopped reports that a signal has stopped p: here that is not known.
func (Process) Stopped() bool { return false }

// Commands are the children of p with a lifeline: here they are not known.
func (Process) Commands(string) []Process { return nil }

// Inheritors are the processes that have a lifeline: here there is none.
func (Process) Inheritors() []Process { return nil }

// UsesNamespace reports whether a process is in a pid namespace: here there is none.
func UsesNamespace(string) (used, known bool) { return false, false }

// IsChildOf reports that q has started p: here that is not known.
func (Process) IsChildOf(Process) bool { return false }

// Owner is the user of the process that has this pid: here it is not known.
func Owner(int) (uid int, known bool) { return 0, false }

// Arguments are those of the process that has this pid: here they are not known.
func Arguments(int) []string { return nil }
