package locksmith

import (
	"os"
	"syscall"

	"locksmith/backends/process"
)

// diesWithUs makes the kernel kill the command when we die, however we do.
func diesWithUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// OutlivesUs reports that the kernel will not kill the command when we die:
// that wish is forgotten when a set-user-id or set-group-id program starts
// (PR_SET_PDEATHSIG(2const)).
func (c *Child) OutlivesUs() bool {
	st, err := os.Stat(c.path)
	return err == nil && st.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0
}

// askToEnd asks the command and all its descendants to end.
func (c *Child) askToEnd() {
	c.signalAll(syscall.SIGTERM)
	c.signalAll(syscall.SIGCONT)
}

// kill ends those that are left.
func (c *Child) kill() { c.signalAll(syscall.SIGKILL) }

// signalAll signals the command alone where /proc does not show its descendants.
func (c *Child) signalAll(s syscall.Signal) {
	if err := process.SignalDescendants(s); err != nil {
		c.Log.Debug("descendants of the command are not known", "error", err)
		c.signal(s)
	}
}
