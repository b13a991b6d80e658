package lockfile

import (
	"strconv"
	"strings"

	"locksmith/backends/owner"
	"locksmith/backends/process"
)

// A Content is what a file says about its owner.
type Content struct {
	Record *owner.Record // nil: the file has no record
	PID    int           // if the file holds nothing but a pid; else 0
	Text   string
}

// Format is the text of a lock file. The first line is the helper's pid in decimal, for tools
// that read pid files. The second line is the record (owner.Record.Format).
func Format(r owner.Record) (string, error) {
	line, err := r.Format()
	if err != nil {
		return "", err
	}
	return strconv.Itoa(r.Helper.PID) + "\n" + line, nil
}

// Parse parses what Format wrote, or another tool's pid with blanks around it.
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

// Holds reports whether the file holds the record of the acquisition with this id.
func (c Content) Holds(id string) bool { return c.Record != nil && c.Record.ID == id }
