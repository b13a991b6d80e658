package backendtest

import (
	"syscall"
	"testing"

	"locksmith/test/lab"
)

// AsRootless is As for a user who is root in a user namespace that has nobody else, as in a
// rootless container.
func AsRootless(t *testing.T, uid, umask int, wish string) User {
	t.Helper()
	cmd := userCommand(umask, wish)
	alone := []syscall.SysProcIDMap{{HostID: uid, Size: 1}}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: alone, GidMappings: alone, Credential: &syscall.Credential{NoSetGroups: true}}
	return User{lab.Start(t, cmd)}
}
