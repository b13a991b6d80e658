package show

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"locksmith/cmd/locksmith/cli/term"
)

// A Watch shows the same locks again and again, each time as they were seen.
type Watch interface {
	Show(seen []Lock, at time.Time) error
	Close()
}

// NewWatch shows people, or programs, what is seen every so often. On a terminal that can do it,
// it shows it in place; elsewhere only what differs from the last look.
func NewWatch(out *os.File, every time.Duration, asJSON bool) Watch {
	switch {
	case asJSON:
		return &changes{out: out, write: writeJSON}
	case term.CanRedraw(out):
		return redrawn{term.NewScreen(out), every}
	}
	return &changes{out: out, write: writeBlock}
}

// InPlace reports whether a Watch is on a terminal, which Ctrl-C leaves.
func InPlace(w Watch) bool {
	_, is := w.(redrawn)
	return is
}

type redrawn struct {
	*term.Screen
	every time.Duration
}

func (r redrawn) Show(seen []Lock, at time.Time) error {
	title := fmt.Sprintf("%s, every %v; Ctrl-C ends this", at.Format(time.TimeOnly), r.every)
	return r.Screen.Show(title, watched(seen))
}

// changes go to a file or a pipe.
type changes struct {
	out   io.Writer
	write func(out io.Writer, first bool, seen []Lock, at time.Time) error
	last  string
}

func (c *changes) Show(seen []Lock, at time.Time) error {
	now := essence(seen)
	if now == c.last {
		return nil
	}
	first := c.last == ""
	c.last = now
	return c.write(c.out, first, seen, at)
}

func (c *changes) Close() {}

// numbers may be ages, or the ports of connections.
var numbers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9.]+(ns|µs|ms|s|m|h)?`) })

// essence is what was seen, without what changes while nothing happens.
func essence(seen []Lock) string {
	var locks []Lock
	for _, l := range seen {
		l.Error = numbers().ReplaceAllString(l.Error, "#")
		if l.Success != nil {
			l.Success = &Success{Host: l.Success.Host}
		}
		l.Holders, l.Waiters = timeless(l.Holders), timeless(l.Waiters)
		locks = append(locks, l)
	}
	text, err := json.Marshal(locks)
	if err != nil {
		panic(err) // there are only strings and numbers in it
	}
	return string(text)
}

func timeless(all []*Holder) (same []*Holder) {
	for _, each := range all {
		h := *each
		h.AgeMS, h.HeartbeatMS, h.Acquired = 0, 0, nil
		h.Note = numbers().ReplaceAllString(h.Note, "#")
		same = append(same, &h)
	}
	return same
}

// writeJSON writes one line.
func writeJSON(out io.Writer, _ bool, seen []Lock, at time.Time) error {
	return json.NewEncoder(term.Escaper{Out: out}).Encode(map[string]any{"time": at.UTC().Truncate(time.Millisecond), "locks": seen})
}

// writeBlock writes the time and then some lines, and an empty line between blocks.
func writeBlock(out io.Writer, first bool, seen []Lock, at time.Time) error {
	before := "\n"
	if first {
		before = ""
	}
	_, err := fmt.Fprintf(out, "%s%s\n%s\n", before, at.Format(time.DateTime), strings.Join(watched(seen), "\n"))
	return err
}

// watched are lines that tell of errors, too. Other commands tell of errors on standard error.
func watched(seen []Lock) (lines []string) {
	for _, l := range seen {
		if l.Error != "" && l.seen.Unseen == "" {
			lines = append(lines, Text(l.Error))
			continue
		}
		lines = append(lines, l.lines()...)
	}
	return lines
}
