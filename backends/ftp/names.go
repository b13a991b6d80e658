package ftp

import (
	"errors"
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"locksmith/backends/servers"
	"locksmith/protocol"
)

// maxComponent is the length of the longest name that file systems allow.
const maxComponent = 255

// maxPath leaves room for the names that a lock makes beside its own. Servers fail on long lines,
// some without a word.
const maxPath = 600

// checkPath says what is wrong with a lock's path for an FTP server.
func checkPath(p string) error {
	if len(p) > maxPath {
		return errors.New("the path is too long for FTP servers")
	}
	if strings.HasPrefix(path.Base(p), ".") {
		return errors.New("the lock's name begins with a dot: FTP servers do not list it")
	}
	return checkName(p)
}

// checkName says what is wrong with a name of one or several components.
func checkName(name string) error {
	for component := range strings.SplitSeq(strings.TrimPrefix(name, "/"), "/") {
		if err := checkComponent(component); err != nil {
			return err
		}
	}
	return nil
}

func checkComponent(s string) error {
	switch {
	case s == "" || s == "." || s == "..":
		return errors.New("a name is empty, or only dots")
	case len(s) > maxComponent:
		return errors.New("a name is longer than 255 bytes")
	case strings.ContainsFunc(s, protocol.IsControl):
		return errors.New("a name holds control characters")
	case strings.ContainsAny(s, "*?[]{}\\\"'`"):
		return errors.New("a name holds one of *?[]{}, a backslash or a quote: FTP servers take them for patterns")
	case s[0] == '-' || s[0] == '~':
		return errors.New("a name begins with - or ~: FTP servers take it for an option or a home directory")
	case strings.TrimSpace(s) != s:
		return errors.New("a name begins or ends with a blank: FTP servers change it")
	}
	return nil
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// shortText shortens the names in a text, as far as they contain no blanks.
func shortText(text string) string { return nameText().ReplaceAllStringFunc(text, servers.ShortName) }

var nameText = pattern(`[^/\s"']+`)

// pattern compiles a regular expression when it is first needed: most helpers never talk to a
// server.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
