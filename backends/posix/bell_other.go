//go:build unix && !linux

package posix

// A Bell does nothing here: only Linux has sockets without a file.
type Bell struct{}

// HangBell returns no bell.
func HangBell(string) Bell { return Bell{} }

// Ring does nothing.
func (b *Bell) Ring() {}

// HearBell finds no bell.
func HearBell(string) (fd int, there bool) { return -1, false }

// Rang is never called, because there is no bell.
func Rang(int) bool { return false }
