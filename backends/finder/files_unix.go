//go:build unix

package finder

import (
	"os"

	"golang.org/x/sys/unix"

	"locksmith/backends/posix"
)

func (t FileTree) at(path string) string {
	if path == "" {
		return posix.FollowDir(t.Root)
	}
	return t.Root + path
}

func openDirectory(path string) (*os.File, error) {
	return os.OpenFile(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}

// Read implements Tree. It neither follows a link nor waits for anything.
func (t FileTree) Read(path string) Content {
	const flags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	var fd int
	err := posix.RetryEINTR(func() (err error) {
		fd, err = unix.Open(t.at(path), flags, 0)
		return err
	})
	if err != nil {
		return Content{Sticky: sticky(t.at(path)), Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := posix.RetryEINTR(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return Content{Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return Content{Err: unix.EINVAL}
	}
	c := Content{Sticky: posix.Marked(uint32(st.Mode)), Err: unix.EFBIG}
	if st.Size <= MaxText {
		c.Text, c.Err = posix.Read(fd, int(st.Size))
	}
	return c
}

func sticky(path string) bool {
	var st unix.Stat_t
	err := posix.RetryEINTR(func() error { return unix.Lstat(path, &st) })
	return err == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && posix.Marked(uint32(st.Mode))
}
