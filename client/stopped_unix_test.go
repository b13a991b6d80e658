//go:build unix

package client_test

import (
	"syscall"
	"testing"
	"time"

	"locksmith/client"
	"locksmith/protocol"
)

func TestHelperStopped(t *testing.T) {
	address, path := newLock(t)
	l := acquire(t, address, client.Lease(time.Second))
	pid := helperPID(t, path)
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	mustBeLost(t, l, protocol.Expired)
	_ = syscall.Kill(pid, syscall.SIGCONT)
	if err := l.Release(); err == nil {
		t.Error("release of a lost lock succeeded")
	}
	mustBeFree(t, path)
}
