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
