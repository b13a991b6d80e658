//go:build !linux

package process

// gainedCapabilities: there are none.
func gainedCapabilities() bool { return false }
