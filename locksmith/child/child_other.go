//go:build unix && !linux

package child

import (
	"errors"
	"os"
	"syscall"
)

// diesWithUs has no means here.
func diesWithUs() *syscall.SysProcAttr { return nil }

// outlivesUs reports that the kernel will not kill the command when we die: it does
// not here.
func (c *Command) outlivesUs() bool { return true }

// askToEnd asks the command to end. Its descendants are not known here: what it leaves
// running goes on.
func (c *Command) askToEnd() {
	c.signal(syscall.SIGTERM)
	c.signal(syscall.SIGCONT)
}

func (c *Command) kill() { c.signal(syscall.SIGKILL) }

// setSubreaper is not to be had here.
func setSubreaper() error { return errors.ErrUnsupported }

// othersLeft cannot be told here, where orphans do not become our children.
func (c *Command) othersLeft() bool { return false }

// meetBystanders: whose children we have is not known here.
func (c *Command) meetBystanders() { c.adopted = true }

// isStoppedInFork cannot be told here.
func isStoppedInFork(int) bool { return false }

// isIgnored cannot be told here.
func isIgnored(syscall.Signal) bool { return false }

// leaveToSystem is not to be had here.
func leaveToSystem([]os.Signal) (restore func(), ok bool) { return func() {}, false }

// RaiseDefault is not to be had here: Go's handlers stay in the way.
func RaiseDefault(syscall.Signal) {}
