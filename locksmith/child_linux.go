package locksmith

import (
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"locksmith/backends/process"
)

// diesWithUs makes the kernel kill the command when we die, however we do.
func diesWithUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// outlivesUs reports that the kernel will not kill the command when we die, or what it
// started, and that there may be no lifeline to see it by: the wish to be killed is
// forgotten when a program starts that gains rights, and when one changes its user
// (PR_SET_PDEATHSIG(2const)), which root's may do. Such programs often close what they
// inherit.
func (c *Child) outlivesUs() bool {
	if c.lifeline == nil {
		return true
	}
	st, err := os.Stat(c.path)
	if err == nil && st.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
		return true
	}
	if n, err := unix.Getxattr(c.path, "security.capability", nil); err == nil && n > 0 {
		return true
	}
	return os.Geteuid() == 0 && changesUser(filepath.Base(c.path))
}

// changesUser knows the usual programs that go on as another user.
func changesUser(program string) bool {
	switch program {
	case "setpriv", "runuser", "capsh", "chroot", "start-stop-daemon", "gosu", "su-exec",
		"chpst", "setuidgid", "envuidgid", "s6-setuidgid", "s6-applyuidgid":
		return true
	}
	return false
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
