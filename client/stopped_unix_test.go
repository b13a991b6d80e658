//go:build unix

package client_test

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"locksmith/client"
	"locksmith/protocol"
)

func TestHelperStopped(t *testing.T) {
	address, path := newLock(t)
	pidFile := path + ".pid"
	ours := client.Helper("sh", "-c", `echo $$ >"$0"; LOCKSMITH_SELF_HELPER=1 exec "$@"`, pidFile, os.Args[0])
	l := acquire(t, address, ours, client.Lease(2*time.Second))
	pid := helperPID(t, pidFile)
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	mustBeLost(t, l, protocol.Expired)
	_ = syscall.Kill(pid, syscall.SIGCONT)
	if err := l.Release(); err == nil {
		t.Error("release of a lost lock succeeded")
	}
	mustBeFree(t, path)
}

// TestHelperEnded: a helper that lets go by itself, as when the service manager sends
// SIGTERM to every process of a service, is a loss to a program that goes on.
func TestHelperEnded(t *testing.T) {
	address, path := newLock(t)
	l := acquire(t, address)
	_ = syscall.Kill(helperPID(t, path), syscall.SIGTERM)
	mustBeLost(t, l, protocol.Gone)
	var lost *client.LostError
	if err := l.Release(); !errors.As(err, &lost) {
		t.Errorf("release: %v", err)
	}
	mustBeFree(t, path)
}
