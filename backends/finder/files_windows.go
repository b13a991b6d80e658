package finder

import (
	"os"

	"locksmith/backends/lockfile"
)

func (t FileTree) at(path string) string { return lockfile.Native(t.Root + path) }

func openDirectory(path string) (*os.File, error) { return os.Open(path) }
