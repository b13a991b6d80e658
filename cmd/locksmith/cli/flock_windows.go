package cli

import "syscall"

// lockDescriptor fails: Windows has no flock(2).
func (o *flocking) lockDescriptor([]string) error { return syscall.ENOSYS }
