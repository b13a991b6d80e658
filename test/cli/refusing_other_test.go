//go:build !linux

package cli

// refusing needs seccomp(2).
func refusing() {}
