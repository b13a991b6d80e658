package ftpserver

import "golang.org/x/sys/unix"

// renameToNew is refused if there is anything, however late it came.
func renameToNew(from, to string) error {
	return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
}
