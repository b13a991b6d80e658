package process

import "os"

// Elevated reports that this process may do more than who started it: its program is
// set-user-ID or set-group-ID, or has file capabilities. What comes from there, such
// as variables and the files that they name, is then somebody else's.
func Elevated() bool {
	return os.Getuid() != os.Geteuid() || os.Getgid() != os.Getegid() || gainedCapabilities()
}
