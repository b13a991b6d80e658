package show

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"locksmith/cmd/locksmith/cli/term"
)

// An Output is where a command writes what it was asked for. Its writes never fail, so nobody
// has to check every line. It remembers the first write that failed, and writes nothing more.
// The end of the command tells.
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

// Failure is why something is missing, or nil. A reader that stopped reading knows what there
// is: most systems end us then without a word.
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
