//go:build linux

package security

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestClosedDescriptors: a helper is started with some of its descriptors 0 to 2
// closed. What it opens must not take their numbers: its lines and its log would go
// into the lock.
func TestClosedDescriptors(t *testing.T) {
	for closed := range 8 {
		for _, k := range kinds {
			t.Run(fmt.Sprintf("%03b %v", closed, k), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				path := filepath.Join(dir, "lock")
				redirections := ""
				for i, r := range []string{" <&-", " >&-", " 2>&-"} {
					if closed&(1<<i) != 0 {
						redirections += r
					}
				}
				// A trace is long, and some of it comes while the lock is held.
				script := `exec "$0" "$@"` + redirections
				cmd := command("-c", script, program, "hold", "--log-level", "trace", k.at(path))
				cmd.Path = "/bin/sh"
				mustWork(t, cmd.Start())
				t.Cleanup(func() { _ = cmd.Process.Kill() })
				awaitHeld(t, k.at(path))
				noWordsBelow(t, dir)
				mustWork(t, cmd.Process.Signal(os.Interrupt), cmd.Process.Signal(os.Kill))
				_ = cmd.Wait()
				noWordsBelow(t, dir)
			})
		}
	}
}

func awaitHeld(t *testing.T, address string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if r := locksmith(t, "status", address); strings.Contains(r.out, "held by") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("nobody takes the lock")
		}
	}
}

// noWordsBelow: no file has anything of the conversation or of the log in it.
func noWordsBelow(t *testing.T, dir string) {
	t.Helper()
	mustWork(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil // it may go away while we look
		}
		text, _ := os.ReadFile(path)
		for _, word := range []string{"OK ", "ERR", "RELEASED", "locksmith:", "DEBUG", "TRACE"} {
			if strings.Contains(string(text), word) {
				t.Errorf("%s holds %q", path, text)
			}
		}
		return nil
	}))
}
