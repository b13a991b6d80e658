//go:build unix

package programs

import (
	"os"
	"syscall"
)

// Become runs another program in this process, with these arguments after its name. It returns
// only if that fails.
func Become(path string, args []string) error {
	return syscall.Exec(path, append([]string{path}, args...), os.Environ())
}
