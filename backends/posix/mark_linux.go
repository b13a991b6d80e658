package posix

import "golang.org/x/sys/unix"

// LockMode is the mode of a lock file of ours. It tells an empty one, whose maker died
// before it wrote who it is, from another tool's.
const LockMode = 0o644 | unix.S_ISVTX

// Marked reports that a file was made with LockMode, whatever the umask.
func Marked(mode uint32) bool { return mode&unix.S_ISVTX != 0 }

// Mark is a file's mode with the mark or without.
func Mark(mode uint32, on bool) uint32 {
	if on {
		return mode&0o777 | unix.S_ISVTX
	}
	return mode & 0o777
}
