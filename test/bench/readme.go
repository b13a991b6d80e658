package main

import (
	"fmt"
	"os"
	"strings"
)

// Between these lines of a file is what this program has printed.
const (
	beginMark = "<!-- from go run ./test/bench -->"
	endMark   = "<!-- end of what it printed -->"
)

// intoReadme puts what was printed into the file that was asked for.
func (s settings) intoReadme(printed []byte) error {
	if s.readme == "" {
		return nil
	}
	old, err := os.ReadFile(s.readme)
	if err != nil {
		return err
	}
	text, err := splice(string(old), string(printed))
	if err != nil {
		return fmt.Errorf("%s: %w", s.readme, err)
	}
	return os.WriteFile(s.readme, []byte(text), 0o644)
}

// splice replaces what is between the marks.
func splice(text, printed string) (string, error) {
	before, rest, begun := strings.Cut(text, beginMark+"\n")
	_, after, ended := strings.Cut(rest, endMark)
	if !begun || !ended {
		return "", fmt.Errorf("no lines %s and %s", beginMark, endMark)
	}
	return before + beginMark + "\n" + printed + endMark + after, nil
}
