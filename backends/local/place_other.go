//go:build unix && !linux

package local

// checkFileSystem cannot tell network file systems here.
func (l *Lock) checkFileSystem(string) error { return nil }
