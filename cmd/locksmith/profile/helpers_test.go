package profile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// canary is a secret that no error may show.
const canary = "tiqqer4711"

// home is an Env with a home of its own and two files that may hold profiles.
func home(t *testing.T, vars map[string]string) Env {
	t.Helper()
	dir := t.TempDir()
	return Env{
		Files:  []string{filepath.Join(dir, "mine.toml"), filepath.Join(dir, "all.toml")},
		Home:   dir,
		Getenv: func(name string) string { return vars[name] },
	}
}

func write(t *testing.T, path string, mode os.FileMode, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// mustRefuse checks an error's code, that it contains all of these texts, and that it shows no
// secret.
func mustRefuse(t *testing.T, err error, says ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("nothing was refused, want an error with %q", says)
		return
	}
	if backend.CodeOf(err) != protocol.Config {
		t.Errorf("code %s: %v", backend.CodeOf(err), err)
	}
	for _, text := range says {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the error does not say %q: %v", text, err)
		}
	}
	if strings.Contains(err.Error(), canary) {
		t.Errorf("the error shows the secret: %v", err)
	}
}
