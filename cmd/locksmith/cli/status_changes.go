package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"locksmith/cmd/locksmith/cli/term"
	"locksmith/protocol"
)

// changes is the display of a file or a pipe: it shows what differs from the last.
type changes struct {
	out   io.Writer
	write func(out io.Writer, first bool, seen []lockStatus, at time.Time) error
	last  string
}

func (c *changes) show(seen []lockStatus, at time.Time) error {
	now := essence(seen)
	if now == c.last {
		return nil
	}
	first := c.last == ""
	c.last = now
	return c.write(c.out, first, seen, at)
}

func (c *changes) close() {}

// numbers may be ages, or the ports of connections.
var numbers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9.]+(ns|µs|ms|s|m|h)?`) })

// essence is what was seen without what changes while nothing happens.
func essence(seen []lockStatus) string {
	locks := slices.Clone(seen)
	for i := range locks {
		l := &locks[i]
		l.Error = numbers().ReplaceAllString(l.Error, "#")
		l.Holders, l.Waiters = timeless(l.Holders), timeless(l.Waiters)
	}
	text, err := json.Marshal(locks)
	if err != nil {
		panic(err) // there are only strings and numbers in it
	}
	return string(text)
}

func timeless(all []holderStatus) []holderStatus {
	all = slices.Clone(all)
	for i := range all {
		h := &all[i]
		h.AgeMS, h.HeartbeatMS, h.Acquired = 0, 0, nil
		h.Note = numbers().ReplaceAllString(h.Note, "#")
	}
	return all
}

// writeJSON writes one line.
func writeJSON(out io.Writer, _ bool, seen []lockStatus, at time.Time) error {
	return json.NewEncoder(term.Escaper{Out: out}).Encode(map[string]any{"time": at.UTC().Truncate(time.Millisecond), "locks": seen})
}

// writeBlock writes the time and then some lines, and an empty line between blocks.
func writeBlock(out io.Writer, first bool, seen []lockStatus, at time.Time) error {
	before := "\n"
	if first {
		before = ""
	}
	_, err := fmt.Fprintf(out, "%s%s\n%s\n", before, at.Format(time.DateTime), strings.Join(watchedLines(seen), "\n"))
	return err
}

// watchedLines also tell of errors, of which status tells on standard error.
func watchedLines(seen []lockStatus) (lines []string) {
	for _, s := range seen {
		if s.Error != "" {
			lines = append(lines, protocol.CleanText(s.Error, protocol.MaxLine))
			continue
		}
		lines = append(lines, s.lines()...)
	}
	return lines
}
