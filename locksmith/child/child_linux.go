package child

import (
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// diesWithUs makes the kernel kill the command when we die, however we do.
func diesWithUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// outlivesUs reports whether the command, or what it started, may live when we have died,
// without a lifeline that shows it. The kernel forgets to kill a program that gains rights, or
// that changes its user (PR_SET_PDEATHSIG(2const)), as a program of root may. Such programs
// often close what they inherit, and so the lifeline.
func (c *Command) outlivesUs() bool {
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
	return c.lifeline.User == 0 && changesUser(filepath.Base(c.path))
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
