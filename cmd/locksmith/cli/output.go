package cli

import (
	"errors"
	"fmt"
	"io"
)

// An output is where a command writes what it was asked for. Its writes never fail, so
// that nobody has to look after every line: it remembers the first that did, writes
// nothing more, and the end of the command tells.
type output struct {
	to  io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	if o.err == nil {
		_, o.err = o.to.Write(b)
	}
	return len(b), nil
}

// failure is why something is missing, or nil. Whoever stopped reading knows what he has:
// most systems end us then without a word.
func (o *output) failure() error {
	if o.err == nil || errors.Is(o.err, nobodyReads) {
		return nil
	}
	return fmt.Errorf("%w; the output is not complete: write it to another place", o.err)
}
