package protocol

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// MaxLine is the longest line either side writes or accepts, in bytes, its
// final line feed included.
const MaxLine = 4096

// MaxEvent is the longest line that tells of an event, in bytes, its final line feed included.
// Those lines are JSON.
const MaxEvent = 1 << 16

const (
	maxWord = 16
	maxKey  = 32
	textKey = "text"
)

// ErrMalformed is wrapped by every error that says a line breaks the grammar.
var ErrMalformed = errors.New("malformed line")

// A Field is one key=value of a line; Value is kept decoded.
type Field struct{ Key, Value string }

// A Line is one line of the protocol: a word, fields in order, and optionally
// text meant for people.
type Line struct {
	Word   string
	Fields []Field
	Text   string
}

// Get returns the value of key and whether the line has it.
func (l Line) Get(key string) (string, bool) {
	for _, f := range l.Fields {
		if f.Key == key {
			return f.Value, true
		}
	}
	return "", false
}

// Value returns the value of key, or "" if the line has none.
func (l Line) Value(key string) string {
	v, _ := l.Get(key)
	return v
}

// With returns the line with one more field.
func (l Line) With(key, value string) Line {
	l.Fields = append(l.Fields[:len(l.Fields):len(l.Fields)], Field{key, value})
	return l
}

// Format returns the line's bytes with the final line feed. It refuses, with
// an error that wraps ErrMalformed, what Parse would refuse.
func (l Line) Format() (string, error) {
	if !validWord(l.Word) {
		return "", malformed("word %q is not 1 to %d capital letters", l.Word, maxWord)
	}
	var b strings.Builder
	b.WriteString(l.Word)
	for i, f := range l.Fields {
		if err := checkKey(f.Key, l.Fields[:i]); err != nil {
			return "", err
		}
		b.WriteByte(' ')
		b.WriteString(f.Key)
		b.WriteByte('=')
		escape(&b, f.Value)
	}
	if l.Text != "" {
		if !cleanText(l.Text) {
			return "", malformed("text holds control bytes or is not UTF-8")
		}
		b.WriteString(" " + textKey + "=")
		b.WriteString(l.Text)
	}
	b.WriteByte('\n')
	if b.Len() > MaxLine {
		return "", malformed("%d bytes, the most is %d", b.Len(), MaxLine)
	}
	return b.String(), nil
}

// Parse reads one line, with or without its final line feed. Its errors wrap
// ErrMalformed.
func Parse(s string) (Line, error) {
	body := strings.TrimSuffix(s, "\n")
	if len(body)+1 > MaxLine {
		return Line{}, malformed("more than %d bytes", MaxLine)
	}
	body, text, hasText := strings.Cut(body, " "+textKey+"=")
	if hasText && (text == "" || !cleanText(text)) {
		return Line{}, malformed("text is empty, holds control bytes or is not UTF-8")
	}
	tokens := strings.Split(body, " ")
	if !validWord(tokens[0]) {
		return Line{}, malformed("does not begin with a word of capital letters: %.40q", tokens[0])
	}
	l := Line{Word: tokens[0], Text: text}
	for _, t := range tokens[1:] {
		key, raw, ok := strings.Cut(t, "=")
		if !ok {
			return Line{}, malformed("%.40q is not key=value", t)
		}
		if err := checkKey(key, l.Fields); err != nil {
			return Line{}, err
		}
		value, err := unescape(raw)
		if err != nil {
			return Line{}, fmt.Errorf("field %s: %w", key, err)
		}
		l.Fields = append(l.Fields, Field{key, value})
	}
	return l, nil
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)
}

func validWord(s string) bool {
	if s == "" || len(s) > maxWord {
		return false
	}
	for i := range len(s) {
		if s[i] < 'A' || s[i] > 'Z' {
			return false
		}
	}
	return true
}

// ValidKey says whether s can be the key of a field.
func ValidKey(s string) bool {
	if s == "" || len(s) > maxKey || s == textKey || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '-') {
			return false
		}
	}
	return true
}

func checkKey(key string, before []Field) error {
	if !ValidKey(key) {
		return malformed("%.40q is not a key", key)
	}
	for _, f := range before {
		if f.Key == key {
			return malformed("key %s comes twice", key)
		}
	}
	return nil
}

func plain(c byte) bool { return c > 0x20 && c < 0x7f && c != '%' }

func escape(b *strings.Builder, s string) {
	const hex = "0123456789ABCDEF"
	for i := range len(s) {
		if c := s[i]; plain(c) {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
}

func unescape(s string) (string, error) {
	if !strings.Contains(s, "%") {
		for i := range len(s) {
			if !plain(s[i]) {
				return "", malformed("byte 0x%02x must be escaped", s[i])
			}
		}
		return s, nil
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case plain(c):
		case c != '%':
			return "", malformed("byte 0x%02x must be escaped", c)
		case i+2 >= len(s) || hexDigit(s[i+1]) < 0 || hexDigit(s[i+2]) < 0:
			return "", malformed("%% is not followed by two digits 0-9 A-F")
		default:
			c = byte(hexDigit(s[i+1])<<4 | hexDigit(s[i+2]))
			if plain(c) {
				return "", malformed("%q must not be escaped", c)
			}
			i += 2
		}
		b = append(b, c)
	}
	return string(b), nil
}

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// A Reader reads lines from a helper.
type Reader struct{ r *bufio.Reader }

// NewReader returns a Reader on r.
func NewReader(r io.Reader) *Reader {
	return &Reader{bufio.NewReaderSize(r, MaxLine)}
}

// Buffered reports whether something of the next line has been read from the helper already.
func (r *Reader) Buffered() bool { return r.r.Buffered() > 0 }

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
