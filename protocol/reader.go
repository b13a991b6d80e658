package protocol

import (
	"bufio"
	"errors"
	"io"
)

// A Reader reads lines from a helper.
type Reader struct{ r *bufio.Reader }

// NewReader returns a Reader on r.
func NewReader(r io.Reader) *Reader {
	return &Reader{bufio.NewReaderSize(r, MaxLine)}
}

// Read returns the next line. At the end of the input the error is io.EOF, or
// io.ErrUnexpectedEOF in the middle of a line; a line that breaks the grammar
// is an error that wraps ErrMalformed.
func (r *Reader) Read() (Line, error) {
	raw, err := r.r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return Line{}, malformed("more than %d bytes", MaxLine)
	case err == io.EOF && len(raw) > 0:
		return Line{}, io.ErrUnexpectedEOF
	case err != nil:
		return Line{}, err
	}
	return Parse(string(raw))
}
