//go:build linux

package security

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/test/lab"
)

// TestClosedDescriptors: a helper is started with some of its descriptors 0 to 2 closed. Files
// that it opens must not take their numbers: else its lines and its log would go into the lock.
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
				cmd := command(t, "-c", script, program(t), "hold", "--log-level", "trace", k.at(path))
				cmd.Path = "/bin/sh"
				cmd.Stdin = lab.Null(t)
				p := lab.Start(t, cmd)
				awaitHeld(t, k.at(path))
				noWordsBelow(t, dir)
				p.Signal(os.Interrupt)
				p.Kill()
				noWordsBelow(t, dir)
			})
		}
	}
}

func awaitHeld(t *testing.T, address string) {
	t.Helper()
	lab.Eventually(t, "somebody takes the lock", func() bool {
		return strings.Contains(locksmith(t, "status", address).out, "held by")
	})
}

// noWordsBelow makes sure that no file has anything of the conversation or of the log in it.
func noWordsBelow(t *testing.T, dir string) {
	t.Helper()
	mustWork(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil // the file may go away while we look
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
