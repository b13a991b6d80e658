//go:build unix

package mkdirlock

import (
	"os"
	"syscall"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/protocol"
)

// TestDeadServer: if a dead server does not answer a call, the outcome is unclear, and the hint
// is to look at the server.
func TestDeadServer(t *testing.T) {
	l := &Lock{Address: "mkdir:/mnt/lock"}
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.ETIMEDOUT, syscall.EHOSTDOWN, syscall.EHOSTUNREACH,
		syscall.ENETUNREACH, syscall.ECONNREFUSED, syscall.ECONNRESET} {
		err := dirs.Outcome(&os.PathError{Op: "mkdir", Path: "/mnt/lock", Err: errno})
		if !dirs.Unclear(err) || dirs.Refused(err) {
			t.Errorf("the error %v of a dead server does not count as unclear", errno)
		}
		if code := backend.CodeOf(l.fail("make the lock", err)); code != protocol.Unreachable {
			t.Errorf("the error %v of a dead server gets the code %s, want unreachable", errno, code)
		}
	}
}
