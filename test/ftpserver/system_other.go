//go:build !linux

package ftpserver

import (
	"errors"
	"os"
	"syscall"
)

func confinement() (*syscall.SysProcAttr, error) {
	return nil, errors.New("only Linux confines processes")
}

// renameToNew is refused if anything exists at to, unless it came after we looked.
func renameToNew(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return syscall.EEXIST
	}
	return syscall.Rename(from, to)
}
