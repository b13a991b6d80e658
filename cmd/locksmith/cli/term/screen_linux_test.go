package term

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSignalAtTheEnd: a signal that comes as the screen is closed draws nothing on what was there
// before.
func TestSignalAtTheEnd(t *testing.T) {
	for range 50 {
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		s := NewScreen(out)
		_ = s.Show("title", nil)
		_ = unix.Kill(os.Getpid(), unix.SIGWINCH)
		s.Close()
		time.Sleep(time.Millisecond)
		if shown, err := os.ReadFile(out.Name()); err != nil || !strings.HasSuffix(string(shown), leaveScreen) {
			t.Fatalf("%q, %v", shown, err)
		}
		_ = out.Close()
	}
}
