package programs

import (
	"path/filepath"
	"strings"

	"locksmith/protocol"
)

// longestName bounds the name of a program in a record, in bytes.
const longestName = 40

// Name is how a record names a program: by the last part of its path, or if it is an
// interpreter by that of its script. Of its arguments, which are asked for only then, nothing
// else is named, and that only if it is a file: they may be secret.
func Name(path string, argv func() []string) string {
	if path == "" {
		return ""
	}
	name := filepath.Base(path)
	if interprets(name) {
		if argv := argv(); len(argv) > 1 && isScript(argv[1]) {
			name = filepath.Base(argv[1])
		}
	}
	return protocol.CleanText(name, longestName)
}

// interprets reports that a program takes its first argument, if it is no option, for the name
// of a script. Behind the name there may be a version, or what a thread is called.
func interprets(name string) bool {
	end := strings.IndexFunc(name, func(r rune) bool { return r < 'a' || r > 'z' })
	if end >= 0 {
		name = name[:end]
	}
	switch name {
	case "perl", "python", "node", "nodejs", "ruby", "php", "tclsh", "sh", "bash", "dash", "ksh", "zsh":
		return true
	}
	return false
}

// isScript reports that an argument leads to a file from where we are, which is also where a
// parent was when it started us.
func isScript(argument string) bool { return argument != "" && argument[0] != '-' && isFile(argument) }
