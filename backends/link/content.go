//go:build unix

package link

import (
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
)

// MaxContent is how much of a file is looked at, in bytes.
const MaxContent = 8192

// isBlank reports what may be around the pid in a file of another tool.
func isBlank(r rune) bool { return strings.ContainsRune(" \t\r\n\x00", r) }

// A content is what a file says about its owner.
type content struct {
	lockfile.Content
	note string // why there is no record
}

func parse(text string) content {
	if len(text) > MaxContent {
		return content{lockfile.Content{Text: text}, "it is too long for one of ours"}
	}
	c := content{Content: lockfile.Parse(text, isBlank)}
	if c.Record != nil && !owner.IsID(c.Record.ID) {
		c.Record = nil // it would become part of names
	}
	switch {
	case text == "":
		c.note = "made by another tool: it is empty"
	case c.PID != 0:
		c.note = "made by another tool"
	case c.Record == nil:
		first, _, _ := strings.Cut(text, "\n")
		c.note = "made by another tool: it holds " + backend.Quoted(first)
	}
	return c
}
