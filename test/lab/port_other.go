//go:build !unix

package lab

import (
	"errors"
	"testing"
)

// ReservePort skips the test: servers for tests are for Unix.
func ReservePort(t testing.TB) int {
	t.Helper()
	Lacking(t, "servers for tests are for Unix")
	return 0
}

// Reserve fails.
func Reserve(int) (giveBack func(), err error) { return nil, errors.ErrUnsupported }
