package client_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/client"
	"locksmith/protocol"
)

// TestNewerHelper: a helper of a later version is not called a wrong program, and gives back
// what it took.
func TestNewerHelper(t *testing.T) {
	t.Parallel()
	script := "echo OK proto=2 waited_ms=0 lease_ms=60000; cat >/dev/null; echo RELEASED held_ms=0"
	_, err := client.Acquire(t.Context(), "local:"+filepath.Join(t.TempDir(), "lock"), client.Helper("sh", "-c", script))
	newer, ok := errors.AsType[*protocol.NewerError](err)
	if !ok || newer.Proto != 2 || !strings.Contains(err.Error(), "a newer protocol, 2") || strings.Contains(err.Error(), "right program") {
		t.Errorf("Acquire returns %v, want a ProtocolError that names protocol 2", err)
	}
}
