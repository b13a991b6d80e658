package term

import (
	"fmt"
	"io"
	"unicode/utf8"

	"locksmith/protocol"
)

// An Escaper keeps from a terminal what could move its cursor or turn text round: the names of
// other people's files are in what we log and print. Each Write is whole lines. JSON stays the
// same text, because such characters stand only in its strings.
type Escaper struct{ Out io.Writer }

// Write implements io.Writer.
func (e Escaper) Write(b []byte) (int, error) {
	var escaped []byte
	for rest := b; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == '\n', r == '\t':
			escaped = append(escaped, byte(r))
		case r == utf8.RuneError && size == 1:
			escaped = utf8.AppendRune(escaped, utf8.RuneError)
		case protocol.IsControl(r):
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		default:
			escaped = append(escaped, rest[:size]...)
		}
		rest = rest[size:]
	}
	if _, err := e.Out.Write(escaped); err != nil {
		return 0, err
	}
	return len(b), nil
}
