//go:build !linux

package ftpserver

import (
	"errors"
	"syscall"
)

func confinement() (*syscall.SysProcAttr, error) {
	return nil, errors.New("only Linux confines processes")
}
