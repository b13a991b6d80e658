//go:build unix

package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/protocol"
)

// TestHungUpBefore: a helper whose parent hung up before it began asks for no lock of any kind,
// and says the same each time.
func TestHungUpBefore(t *testing.T) {
	t.Parallel()
	for name, locks := range map[string][]string{
		"local": {"local:L"}, "nfs": {"nfs:L"}, "mkdir": {"mkdir:L"}, "dir": {"mkdir:L?style=dir"}, "link": {"link:L"},
		"set": {"local:L", "link:M"}, "any": {"--any", "local:L", "link:M"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			flags := []string{"hold", "--stdin", "watch"}
			for _, l := range locks {
				kind, path, is := strings.Cut(l, ":")
				if is {
					l = kind + ":" + filepath.Join(dir, path)
				}
				flags = append(flags, l)
			}
			for range 5 {
				hungUp(t, true, flags, "ERR code=cancelled ")
				hungUp(t, false, flags, "")
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("a helper whose parent had hung up left behind %v, %v", left, err)
			}
		})
	}
}

// hungUp starts a helper whose standard input, or else output, has lost its other end.
func hungUp(t *testing.T, input bool, flags []string, says string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	cmd := exec.Command("locksmith", flags...)
	var out, errs strings.Builder
	cmd.Stderr = &errs
	if cmd.Stdin, cmd.Stdout = r, &out; input {
		err = w.Close()
	} else {
		cmd.Stdin, cmd.Stdout = nil, w
		err = r.Close()
	}
	if err = errors.Join(err, cmd.Start()); err == nil {
		_ = cmd.Wait()
	}
	if status := cmd.ProcessState.ExitCode(); err != nil || status != protocol.Cancelled.Exit() || !strings.HasPrefix(out.String(), says) {
		t.Errorf("a helper whose parent had hung up: %v, status %d: %q, %s", err, status, &out, &errs)
	}
}
