//go:build !linux

package clock

// Boot is the Clock of this machine. Here it is the runtime's.
type Boot struct{ Runtime }
