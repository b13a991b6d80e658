package lockfile

import (
	"strconv"
	"strings"

	"locksmith/backends/owner"
	"locksmith/backends/process"
)

// A Content is what a file says about its owner.
type Content struct {
	Record *owner.Record // nil: it holds none
	PID    int           // of a file that holds nothing but a pid; else 0
	Text   string
}

// Format is the text of a lock file: the helper's pid in decimal, for tools that read pid
// files, and in the second line the record. See owner.Record.Format.
func Format(r owner.Record) (string, error) {
	line, err := r.Format()
	if err != nil {
		return "", err
	}
	return strconv.Itoa(r.Helper.PID) + "\n" + line, nil
}

// Parse reads what Format wrote, or another tool's pid with blanks around it.
func Parse(text string, isBlank func(rune) bool) Content {
	c := Content{Text: text}
	first, rest, _ := strings.Cut(text, "\n")
	pid, err := strconv.Atoi(strings.TrimFunc(first, isBlank))
	if err == nil && pid > 0 && pid <= process.MaxPID && strings.TrimFunc(rest, isBlank) == "" {
		c.PID = pid
		return c
	}
	if r, err := owner.ParseRecord(rest); err == nil && r.Helper.PID == pid {
		c.Record = &r
	}
	return c
}

// Holds reports that it is the record of this acquisition.
func (c Content) Holds(id string) bool { return c.Record != nil && c.Record.ID == id }
