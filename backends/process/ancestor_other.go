//go:build !linux

package process

import "os"

// IsAncestor reports that p is the parent of this process; who is farther up
// cannot be told here.
func IsAncestor(p Process) bool { return p.PID > 0 && p.PID == os.Getppid() && !p.Gone() }
