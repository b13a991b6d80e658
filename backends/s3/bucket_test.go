//go:build unix

package s3

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/detached"
	"locksmith/protocol"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

// TestUnfitCertificates: if certificates are to be read of a FIFO without a writer, or of a file
// without end, a try fails at once.
func TestUnfitCertificates(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	backendtest.MustWork(t, syscall.Mkfifo(fifo, 0o600))
	for _, file := range []string{fifo, "/dev/zero", "/no/such/file", "/dev/null"} {
		a, err := backend.ParseAddress(addressAt("https://127.0.0.1:1"), schemes)
		backendtest.MustWork(t, err)
		l, err := Open(a, backend.Access{CA: file})
		backendtest.MustWork(t, err)
		attempt, err := l.Attempt(backendtest.Request())
		backendtest.MustWork(t, err)
		try := detached.Go(func() (backend.Hold, error) { return attempt.Try(context.Background()) })
		select {
		case <-try.Done():
		case <-time.After(lab.Patience):
			t.Fatalf("the certificates are in %s: Try still reads it after %v, want an error", file, lab.Patience)
		}
		if _, err := try.Result(); backend.CodeOf(err) != protocol.Config {
			t.Errorf("the certificates are in %s: Try returns %v, want an error with code %s", file, err, protocol.Config)
		}
	}
}
