//go:build !linux

package doctor

import "locksmith/backends/backend"

// System has nothing to look for here.
func (DirNeeds) System(backend.Tell) {}
