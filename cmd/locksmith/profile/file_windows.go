package profile

import "io/fs"

const dontWait = 0

// checkAccess refuses every file: it does not examine here who else may read or write a file, and
// a file that others may change must not be believed.
func (g guard) checkAccess(fs.FileInfo, string) error {
	return faulty("name the lock by its address, and give the password in the environment",
		"who may read and write it cannot be told on windows")
}
