package posix

import "golang.org/x/sys/unix"

// pathOnly opens what is not to be read, and need not be readable.
const pathOnly = unix.O_PATH
