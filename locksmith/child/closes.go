package child

import (
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// closers are programs that begin by closing all descriptors but the standard ones, or may do so
// before they become another program.
var closers = []string{"ssh", "slogin", "ssh-agent", "sudo", "doas", "pkexec", "su", "screen", "tmux", "dtach", "daemon", "daemonize", "start-stop-daemon"}

// Closes returns the name of a program in a command line that may close what it inherits, or "".
// If such a program alone has a lock, the program's closing releases it. Closes looks at all
// words, because a shell or nice may become the program. It does not see what a script becomes.
// Programs that gain rights may do anything.
func Closes(argv []string) string {
	for _, arg := range argv {
		for _, word := range strings.FieldsFunc(arg, isBetweenWords) {
			if name := path.Base(word); slices.Contains(closers, name) {
				return name
			}
		}
	}
	if file, err := exec.LookPath(argv[0]); err == nil {
		if st, err := os.Stat(file); err == nil && st.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
			return path.Base(file)
		}
	}
	return ""
}

func isBetweenWords(r rune) bool { return strings.ContainsRune(" \t\n;&|()<>{}`'\"=$\\", r) }
