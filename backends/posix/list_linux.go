package posix

import "golang.org/x/sys/unix"

// List returns the names in a directory, without "." and "..". It opens the
// directory anew each time: on NFS, a descriptor that is rewound shows what is up
// to half a minute old. A symbolic link is not followed, unless it is Within. Its
// errors are the system's.
func List(path string) ([]string, error) { return ListAt(unix.AT_FDCWD, path) }

// ListAt is List of a name in a directory.
func ListAt(at int, name string) ([]string, error) {
	fd, err := openDirectory(at, name, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var names []string
	buf := make([]byte, 8192)
	for {
		n, err := unix.ReadDirent(fd, buf)
		if err != nil || n <= 0 {
			return names, err
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}
