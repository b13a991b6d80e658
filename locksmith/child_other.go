//go:build unix && !linux

package locksmith

import "syscall"

// diesWithUs has no means here: a command outlives a killed helper.
func diesWithUs() *syscall.SysProcAttr { return nil }
