package cli

import (
	"encoding/json"
	"os"
)

// A listOutput shows one lock after the other, so that nobody has to keep all.
type listOutput interface {
	// add shows a lock; one without a name is not shown, but its error is kept.
	add(s lockStatus, err error)
	end() error
}

func (l *listing) output() listOutput {
	if l.asJSON {
		return &listJSON{}
	}
	return listText{}
}

type listText struct{}

func (listText) add(s lockStatus, _ error) {
	if s.Lock != "" {
		s.print()
	}
}

func (listText) end() error { return nil }

// listJSON prints {"locks": […], "errors": […]}; errors are those that belong to no
// lock.
type listJSON struct {
	begun  bool
	errors []string
	err    error // of the first write that failed
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
		_, o.err = escaper{os.Stdout}.Write([]byte(text))
	}
}
