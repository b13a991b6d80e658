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
	process.SignalDescendants(syscall.SIGTERM)
	process.SignalDescendants(syscall.SIGCONT)
}

// kill ends those that are left.
func (c *Child) kill() { process.SignalDescendants(syscall.SIGKILL) }
