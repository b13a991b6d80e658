//go:build unix && !linux

package locksmith

import "syscall"

// diesWithUs has no means here.
func diesWithUs() *syscall.SysProcAttr { return nil }

// outlivesUs reports that the kernel will not kill the command when we die: it does
// not here.
func (c *Child) outlivesUs() bool { return true }

// askToEnd asks the command to end. Its descendants are not known here: what it leaves
// running goes on.
func (c *Child) askToEnd() {
	c.signal(syscall.SIGTERM)
	c.signal(syscall.SIGCONT)
}

func (c *Child) kill() { c.signal(syscall.SIGKILL) }
