//go:build unix

package link

import (
	"strconv"
	"strings"

	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/protocol"
)

// MaxContent is how much of a file is looked at, in bytes.
const MaxContent = 8192

// blank is what may be around the pid in a file of another tool.
const blank = " \t\r\n\x00"

// A content is what a file says about its owner.
type content struct {
	record *owner.Record // nil: it is no file of ours
	pid    int           // of a file that holds nothing but a pid; else 0
	note   string        // why there is no record
	text   string
}

// format is what a claim holds: the pid first, for tools that read pid files.
func format(r owner.Record) (string, error) {
	line, err := r.Format()
	if err != nil {
		return "", err
	}
	return strconv.Itoa(r.Helper.PID) + "\n" + line, nil
}

func parse(s string) content {
	c := content{text: s}
	first, rest, _ := strings.Cut(s, "\n")
	pid, err := strconv.Atoi(strings.Trim(first, blank))
	isPID := err == nil && pid > 0 && pid <= process.MaxPID
	switch {
	case len(s) > MaxContent:
		c.note = "it is too long for one of ours"
	case s == "":
		c.note = "made by another tool: it is empty"
	case isPID && strings.Trim(rest, blank) == "":
		c.pid, c.note = pid, "made by another tool"
	default:
		r, err := owner.ParseRecord(rest)
		if err != nil || r.Helper.PID != pid || !isID(r.ID) {
			c.note = "made by another tool: it holds " + strconv.Quote(protocol.CleanText(first, 100))
			return c
		}
		c.record = &r
	}
	return c
}

// has reports that it is the record of this acquisition.
func (c content) has(id string) bool { return c.record != nil && c.record.ID == id }
