//go:build unix && !linux

package posix

// A Bell is none: sockets without a file are Linux's.
type Bell struct{}

// HangBell returns no bell.
func HangBell(string) Bell { return Bell{} }

// Ring does nothing.
func (b *Bell) Ring() {}

// HearBell finds no bell.
func HearBell(string) (fd int, there bool) { return -1, false }

// Rang is not called without a bell.
func Rang(int) bool { return false }
