package programs

import "golang.org/x/sys/unix"

// resolveCached is RESOLVE_CACHED of openat2(2), since Linux 5.12.
const resolveCached = 0x20

// isFile reports whether there is a regular file at a path, as far as the kernel knows without
// asking a disk or a server, which might hang. Of a script that runs the kernel knows.
func isFile(path string) bool {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: resolveCached})
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG
}
