package show

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/term"
)

// A List shows one lock after the other, so that nobody has to keep them all.
type List interface {
	// Add shows a lock. A lock without a name is not shown, but its error is.
	Add(l Lock, err error)
	End() error
}

// Formats returns the formats of a list, for people (text) and for programs.
func Formats() []string { return []string{"text", "json", "openmetrics"} }

// NewList shows what Add gets in one of Formats, or is nil. text is a table on a terminal of
// this width. Without a terminal it has a line for each holder and waiter.
func NewList(out io.Writer, format string, width int) List {
	switch {
	case format == "json":
		return &listJSON{out: out}
	case format == "openmetrics":
		return &metrics{out: out, samples: map[string][]byte{}, seen: map[string]bool{}}
	case format == "text" && width > 0:
		return newTable(out, width)
	case format == "text":
		return listText{out}
	}
	return nil
}

type listText struct{ out io.Writer }

// Add leaves errors to standard error.
func (o listText) Add(l Lock, _ error) {
	if l.Lock != "" {
		l.Print(o.out)
	}
}

func (listText) End() error { return nil }

// leftOut returns how many locks an error says are not in the list.
func leftOut(err error) int {
	if e, ok := errors.AsType[*backend.LeftOutError](err); ok {
		return e.Left.Known + e.Left.Foreign
	}
	return 0
}

// listJSON prints {"locks": […], "left_out": 1, "errors": […]}; errors are those that belong to no
// lock, and left_out is not there if nothing was left out.
type listJSON struct {
	out    io.Writer
	begun  bool
	errors []string
	left   int   // how many locks are not in the list
	err    error // of the first lock that could not be written as JSON
}

func (o *listJSON) Add(l Lock, err error) {
	if l.Lock == "" {
		o.errors, o.left = append(o.errors, err.Error()), o.left+leftOut(err)
		return
	}
	text, err := json.MarshalIndent(l, "    ", "  ")
	before := ",\n    "
	if !o.begun {
		before = "{\n  \"locks\": [\n    "
	}
	o.begun = true
	o.print(before+string(text), err)
}

func (o *listJSON) End() error {
	after := "\n  ]"
	if !o.begun {
		after = "{\n  \"locks\": []"
	}
	if o.left > 0 {
		after += fmt.Sprintf(",\n  \"left_out\": %d", o.left)
	}
	if len(o.errors) > 0 {
		text, err := json.MarshalIndent(o.errors, "  ", "  ")
		o.print(after+",\n  \"errors\": "+string(text), err)
		after = ""
	}
	o.print(after+"\n}\n", nil)
	return o.err
}

func (o *listJSON) print(text string, err error) {
	if o.err == nil {
		o.err = err
	}
	if o.err == nil {
		_, o.err = term.Escaper{Out: o.out}.Write([]byte(text))
	}
}
