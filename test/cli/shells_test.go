//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"testing"

	"locksmith/test/lab"
)

// A shell completes what is typed.
type shell struct {
	name    string
	argv    []string
	needs   string // a file
	prepare string // the command that loads our completions
}

func shells() []shell {
	const bashCompletion = "/usr/share/bash-completion/bash_completion"
	return []shell{
		{"bash", []string{"bash", "--norc", "--noprofile", "-i"}, bashCompletion,
			"bind 'set enable-bracketed-paste off'; . " + bashCompletion + "; . <(locksmith completion bash)"},
		{"zsh", []string{"zsh", "-f", "-i"}, "",
			"autoload -U compinit; compinit -u -D; . <(locksmith completion zsh)"},
		{"fish", []string{"fish", "--no-config", "-i"}, "",
			"locksmith completion fish | source"},
	}
}

func (s shell) start(t *testing.T, dir string) *terminal {
	t.Helper()
	lab.NeedProgram(t, s.name)
	if s.needs != "" {
		if _, err := os.Stat(s.needs); err != nil {
			lab.Lacking(t, err.Error())
		}
	}
	// The shell's own files, and our profiles, are the test's.
	term := atTerminal(t, append([]string{"env", "TERM=xterm", "HOME=" + dir, "XDG_CONFIG_HOME=" + dir, "HISTFILE="}, s.argv...)...)
	term.type_(t, s.prepare+"; echo rea''dy\r")
	term.mustShow(t, "ready")
	return term
}

func (term *terminal) type_(t *testing.T, keys string) {
	t.Helper()
	if _, err := term.tty.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// TestShellsComplete: shells complete addresses, with their own rules for colons and blanks.
func TestShellsComplete(t *testing.T) {
	lab.NotShort(t, "starts shells")
	t.Parallel()
	for _, s := range shells() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, name := range []string{"locks/billing", "locks/with blank"} {
				if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			term := s.start(t, dir)
			for typed, want := range map[string]string{
				"status nf":                             "status nfs:/",
				"status nfs:" + dir + "/lo":             "status nfs:" + dir + "/locks/",
				"hold nfs:" + dir + "/locks/b":          "hold nfs:" + dir + "/locks/billing/",
				"run nfs:" + dir + "/locks/w":           "run nfs:" + dir + "/locks/with blank/",
				"hold --log-format j":                   "hold --log-format json",
				"run --for " + dir + "/locks/bil":       "run --for " + dir + "/locks/billing",
				"run --for " + dir + "/locks/billing m": "run --for " + dir + "/locks/billing mkdir:",
			} {
				// Ctrl-A goes to the beginning, so the line is only shown.
				term.type_(t, "locksmith "+typed+"\t\x01echo \r")
				term.mustShow(t, "locksmith "+want)
			}
			term.type_(t, "exit\r")
		})
	}
}
