//go:build unix

package link

import (
	"fmt"
	"strconv"
	"strings"

	"locksmith/backends/finder"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
)

const (
	claimMark = ".claim."
	entryMark = ".brk." // of the break queue
	// maxEntries bounds how many breakers of one acquisition may die in the attempt.
	maxEntries = 64
	// maxName is what file systems take. longestMark is the longest that we add to a name: an
	// entry of the break queue for a foreign file.
	maxName     = 255
	longestMark = len(entryMark) + len("f-") + 16 + len("-") + 16 + len("-") + 16 + len(".64")
)

// claimName is the unique file of one acquisition.
func (l *Lock) claimName(id string) string { return l.Name + claimMark + id }

// parseClaim reads what claimName wrote, and nothing else.
func (l *Lock) parseClaim(name string) (id string, ok bool) {
	id, ok = strings.CutPrefix(name, l.Name+claimMark)
	return id, ok && owner.IsID(id)
}

// entryName is the nth entry in the queue of breakers of one acquisition.
func (l *Lock) entryName(dead string, n int) string {
	return l.Name + entryMark + dead + "." + strconv.Itoa(n)
}

// parseEntry reads what entryName wrote, and nothing else.
func (l *Lock) parseEntry(name string) (dead string, n int, ok bool) {
	rest, ok := strings.CutPrefix(name, l.Name+entryMark)
	dead, digits, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(digits)
	ok = ok && err == nil && n >= 1 && n <= maxEntries && strconv.Itoa(n) == digits
	return dead, n, ok && (owner.IsID(dead) || isForeignID(dead))
}

// leaves reports whether waiters and breakers leave such a name behind if they crash.
func (l *Lock) leaves(name string) bool {
	_, claims := l.parseClaim(name)
	_, _, breaks := l.parseEntry(name)
	return claims || breaks
}

func isHex(s string) bool { return s != "" && strings.Trim(s, "0123456789abcdef") == "" }

// foreignID stands for the id of a file that has none. It is made of the file's number and the
// time of its last change.
func foreignID(st lockfile.Stat) string {
	return fmt.Sprintf("f-%x-%x-%x", st.Dev, st.Ino, uint64(st.Modified.UnixNano()))
}

func isForeignID(s string) bool {
	parts := strings.Split(s, "-")
	if len(parts) != 4 || parts[0] != "f" {
		return false
	}
	for _, p := range parts[1:] {
		if !isHex(p) || len(p) > 16 {
			return false
		}
	}
	return true
}

// isBlank reports whether a character may be around the pid in a file of another tool.
func isBlank(r rune) bool { return strings.ContainsRune(" \t\r\n\x00", r) }

// A content is what a file says about its owner.
type content struct {
	lockfile.Content
	note string // why there is no record
}

func parse(text string) content {
	if len(text) > finder.MaxText {
		return content{lockfile.Content{Text: text}, "it is too long for one of ours"}
	}
	c := content{Content: lockfile.Parse(text, isBlank, false)}
	if c.Record != nil && !owner.IsID(c.Record.ID) {
		c.Record = nil // its id would become part of names
	}
	switch {
	case text == "":
		c.note = "made by another tool: it is empty"
	case c.PID != 0:
		c.note = "made by another tool"
	case c.Record == nil:
		c.note = lockfile.Foreign(text)
	}
	return c
}
