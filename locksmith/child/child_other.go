//go:build unix && !linux

package child

import (
	"errors"
	"os"
	"syscall"
)

// diesWithUs asks for nothing: these systems cannot kill the command when we die.
func diesWithUs() *syscall.SysProcAttr { return nil }

// outlivesUs: see diesWithUs.
func (c *Command) outlivesUs() bool { return true }

// askToEnd asks the command alone to end. Its descendants are not known here, and go on.
func (c *Command) askToEnd() {
	c.signal(syscall.SIGTERM)
	c.signal(syscall.SIGCONT)
}

func (c *Command) kill() { c.signal(syscall.SIGKILL) }

// setSubreaper is not possible here.
func setSubreaper() error { return errors.ErrUnsupported }

// anyLeft finds nobody: here orphans do not become our children.
func (c *Command) anyLeft() bool { return false }

// meetBystanders cannot tell here whether we have children.
func (c *Command) meetBystanders() { c.hadChildren = true }

// isStoppedInFork cannot be told here.
func isStoppedInFork(int) bool { return false }

// isIgnored cannot be told here.
func isIgnored(syscall.Signal) bool { return false }

// leaveToSystem is not possible here.
func leaveToSystem([]os.Signal) (restore func(), ok bool) { return func() {}, false }

// RaiseDefault is not possible here: Go's handlers stay in the way.
func RaiseDefault(syscall.Signal) {}
