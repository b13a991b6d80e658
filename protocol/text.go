package protocol

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrorText is an error's text, with "; " where errors.Join has put a line feed between errors.
func ErrorText(err error) string {
	text := err.Error()
	var within []error
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		within = []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		within = e.Unwrap()
	}
	var each, shown []string
	for _, inner := range within {
		if inner != nil {
			each, shown = append(each, inner.Error()), append(shown, ErrorText(inner))
		}
	}
	text = strings.ReplaceAll(text, strings.Join(each, "\n"), strings.Join(shown, "; "))
	for i := range each { // of an error that has several, but was not joined
		text = strings.ReplaceAll(text, each[i], shown[i])
	}
	return text
}

// CleanText makes any string fit to be a line's text and to be shown: control
// characters, invalid UTF-8 and what turns the direction of writing become "?", and
// what exceeds max bytes is cut with "...".
func CleanText(s string, max int) string {
	clean := strings.Map(func(r rune) rune {
		if Misleads(r) || r == utf8.RuneError {
			return '?'
		}
		return r
	}, s)
	if len(clean) <= max {
		return clean
	}
	cut := max - len("...")
	for cut > 0 && !utf8.RuneStart(clean[cut]) {
		cut--
	}
	return clean[:cut] + "..."
}

// IsControl reports what no text of a line holds: C0, DEL and the C1 controls, which some
// terminals obey, and the line and paragraph separators and bidirectional controls, which
// make people read something else than what is there.
func IsControl(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// Misleads reports what IsControl does, and also the invisible marks that turn the direction of
// writing (Unicode's Bidi_Control), by which two names look alike. A line's text may hold those
// marks; clean text and lock addresses do not.
func Misleads(r rune) bool { return IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

func cleanText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, IsControl)
}
