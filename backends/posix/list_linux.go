package posix

import "golang.org/x/sys/unix"

// List returns the names in a directory, without "." and "..". It opens the
// directory anew each time: on NFS, a descriptor that is rewound shows what is up
// to half a minute old. A symbolic link is not followed, unless it is Within. Its
// errors are the system's.
func List(path string) ([]string, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	var fd int
	err := RetryEINTR(func() (err error) {
		fd, err = unix.Open(path, flags, 0)
		return err
	})
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
