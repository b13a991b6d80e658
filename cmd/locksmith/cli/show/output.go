package show

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"locksmith/cmd/locksmith/cli/term"
)

// An Output is where a command writes what it was asked for. Its writes never fail, so
// that nobody has to look after every line: it remembers the first that did, writes
// nothing more, and the end of the command tells.
type Output struct {
	To  io.Writer
	err error
}

// Write implements io.Writer. It never fails.
func (o *Output) Write(b []byte) (int, error) {
	if o.err == nil {
		_, o.err = o.To.Write(b)
	}
	return len(b), nil
}

// Failure is why something is missing, or nil. Whoever stopped reading knows what there is:
// most systems end us then without a word.
func (o *Output) Failure() error {
	if o.err == nil || errors.Is(o.err, term.ErrUnread) {
		return nil
	}
	return fmt.Errorf("%w; the output is not complete: write it to another place", o.err)
}

// JSON prints the one document of a command with --json.
func (o *Output) JSON(v any) error {
	enc := json.NewEncoder(term.Escaper{Out: o})
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
