package show

import (
	"fmt"
	"io"
	"time"

	"locksmith/backends/backend"
)

// A Reaped is one directory of locks that reap has looked at.
type Reaped struct {
	Place string  `json:"place"`
	Found []found `json:"found"`
	Error string  `json:"error,omitempty"`
	seen  []backend.Reaped
}

type found struct {
	Path    string  `json:"path"` // in the directory
	What    string  `json:"what"` // empty lock, holder, waiter, scratch or other
	Holder  *Holder `json:"holder,omitempty"`
	AgeMS   int64   `json:"age_ms"` // without a sign of life, by the server's clock
	Due     bool    `json:"due"`    // old enough, and no sign that somebody lives; or proven dead
	Removed bool    `json:"removed"`
	Note    string  `json:"note,omitempty"` // why it stays
}

// NewReaped returns a report of what was found in a place. err says why there may be more.
func NewReaped(place string, seen []backend.Reaped, err error) *Reaped {
	r := &Reaped{Place: place, Found: []found{}, seen: seen}
	if err != nil {
		r.Error = err.Error()
	}
	for _, s := range seen {
		f := found{Path: s.Path, What: s.What, AgeMS: s.Age.Milliseconds(), Due: s.Due, Removed: s.Removed, Note: s.Note}
		if s.What == backend.ReapedHolder || s.What == backend.ReapedWaiter {
			f.Holder = NewHolder(s.Holder)
		}
		r.Found = append(r.Found, f)
	}
	return r
}

// Print tells people; if they want it quiet, only of what is due. command is the command line that removes
// what is due. Of a place with nothing in it, orLock says what to do if the place is a lock itself.
func (r *Reaped) Print(out io.Writer, quiet bool, command, orLock string) {
	due := 0
	for _, s := range r.seen {
		if quiet && !s.Due {
			continue
		}
		verdict := "stays: " + s.Note
		switch {
		case s.Removed:
			verdict = "removed"
		case s.Due && s.Note == "":
			verdict = "would be removed"
			due++
		}
		who := ""
		if s.Holder.Record != nil {
			who = ", " + s.Holder.String()
		}
		fmt.Fprintln(out, Text(fmt.Sprintf("%s: %s, silent for %v by the server's clock%s: %s", s.Path, s.What, s.Age.Round(time.Second), who, verdict)))
	}
	if due > 0 {
		fmt.Fprintf(out, "%s: nothing was removed; to remove %d: %s\n", Text(r.Place), due, Text(command))
	}
	if len(r.seen) == 0 && r.Error == "" && !quiet {
		fmt.Fprintf(out, "%s: nothing to remove%s\n", Text(r.Place), Text(orLock))
	}
}
