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

// outlivesUs reports that the kernel will not kill the command when we die, or what it
// started, and that there may be no lifeline to see it by: the wish to be killed is
// forgotten when a program starts that gains rights, and when one changes its user
// (PR_SET_PDEATHSIG(2const)), which root's may do. Such programs often close what they
// inherit.
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
