package programs

import (
	"path/filepath"
	"strings"

	"locksmith/protocol"
)

// longestName bounds the name of a program in a record, in bytes.
const longestName = 40

// Name is how a record names a program: by the last part of its path. An interpreter is named by
// the last part of its script's path, if that is a file. argv is called only for an interpreter.
// No other argument is named, because arguments may be secret.
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

// interprets reports whether a program takes its first argument, if that is no option, for the
// name of a script. A version, or what a thread is called, may follow the name.
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

// isScript reports whether an argument leads to a file from where we are. A parent was there,
// too, when it started us.
func isScript(argument string) bool { return argument != "" && argument[0] != '-' && isFile(argument) }
