package cli

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestToldToEnd: a helper that is told to end before its parent lets go says so by its
// exit status, which is all that some parents look at.
func TestToldToEnd(t *testing.T) {
	for name, c := range map[string]struct {
		last   func(d *deaf, stdin io.Closer)
		status int
	}{
		"by its parent": {func(_ *deaf, stdin io.Closer) { _ = stdin.Close() }, 0},
		"by a signal":   {func(d *deaf, _ io.Closer) { _ = d.cmd.Process.Signal(syscall.SIGTERM) }, 143},
	} {
		t.Run(name, func(t *testing.T) {
			out, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			var stdin io.Closer
			lock := filepath.Join(t.TempDir(), "lock")
			d := startDeaf(t, func(c *exec.Cmd) {
				stdin, _ = c.StdinPipe()
				c.Stdout = w
			}, "hold", "local:"+lock)
			_ = w.Close() // it has its own
			lines := bufio.NewScanner(out)
			mustScan(t, lines, "OK ")
			c.last(d, stdin)
			mustScan(t, lines, "RELEASED ")
			d.mustEnd(t, c.status)
			mustBeFree(t, lock)
		})
	}
}
