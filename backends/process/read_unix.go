//go:build unix

package process

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// ReadShort reads the beginning of a file: at most 1024 bytes, which is more than /proc/PID/stat ever
// has, and what the kernel hands out in one piece. It takes three system calls, where os.ReadFile
// takes nine and has the runtime begin to watch descriptors.
func ReadShort(path string) (string, error) {
	fd, err := again(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return "", &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	buf := make([]byte, 1024)
	n, err := again(func() (int, error) { return unix.Read(fd, buf) })
	if err != nil {
		return "", &os.PathError{Op: "read", Path: path, Err: err}
	}
	return string(buf[:n]), nil
}

// SeesAllUsers reports whether the kernel shows us every user by the number that it has on the whole
// machine. A user namespace that maps fewer shows the others as 65534 (user_namespaces(7)).
func SeesAllUsers() (bool, error) {
	users, err := ReadShort("/proc/self/uid_map")
	return strings.Join(strings.Fields(users), " ") == "0 0 4294967295", err
}

// again repeats a call until no signal interrupts it.
func again(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
