//go:build unix && !linux

package posix

// LockMode is the mode of a lock file of ours. It tells an empty one, whose maker died
// before it wrote who it is, from another tool's: open(2) leaves the sticky bit out here,
// but nobody else makes a file that its owner may execute and not write. Who makes it may
// write all the same.
const LockMode = 0o544

// Marked reports that a file was made with LockMode, whatever the umask.
func Marked(mode uint32) bool { return mode&0o700 == 0o500 }

// Mark leaves a file's mode as it is: without the owner's right to write he could not
// open it again.
func Mark(mode uint32, _ bool) uint32 { return mode & 0o777 }
