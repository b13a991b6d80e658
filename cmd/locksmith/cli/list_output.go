package cli

import (
	"encoding/json"
	"io"

	"locksmith/cmd/locksmith/cli/term"
)

// A listOutput shows one lock after the other, so that nobody has to keep all.
type listOutput interface {
	// add shows a lock; one without a name is not shown, but its error is kept.
	add(s lockStatus, err error)
	end() error
}

func (l *listing) output(out io.Writer) listOutput {
	if l.asJSON {
		return &listJSON{out: out}
	}
	return listText{out}
}

type listText struct{ out io.Writer }

func (o listText) add(s lockStatus, _ error) {
	if s.Lock != "" {
		s.print(o.out)
	}
}

func (listText) end() error { return nil }

// listJSON prints {"locks": […], "errors": […]}; errors are those that belong to no
// lock.
type listJSON struct {
	out    io.Writer
	begun  bool
	errors []string
	err    error // of the first that could not be written as JSON
}

func (o *listJSON) add(s lockStatus, err error) {
	if s.Lock == "" {
		o.errors = append(o.errors, err.Error())
		return
	}
	o.item(s)
}

func (o *listJSON) item(v any) {
	text, err := json.MarshalIndent(v, "    ", "  ")
	before := ",\n    "
	if !o.begun {
		before = "{\n  \"locks\": [\n    "
	}
	o.begun = true
	o.print(before+string(text), err)
}

func (o *listJSON) end() error {
	after := "\n  ]"
	if !o.begun {
		after = "{\n  \"locks\": []"
	}
	if len(o.errors) > 0 {
		text, err := json.MarshalIndent(o.errors, "  ", "  ")
		o.print(after+",\n  \"errors\": "+string(text)+"\n}\n", err)
		return o.err
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
