package protocol

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// CleanText makes any string fit to be a line's text and to be shown: line feeds, which
// errors.Join puts between errors, become "; ", other control characters, invalid UTF-8 and what
// turns the direction of writing "?", and what exceeds max bytes is cut with "...".
func CleanText(s string, max int) string {
	clean := strings.Map(func(r rune) rune {
		if Misleads(r) || r == utf8.RuneError {
			return '?'
		}
		return r
	}, strings.ReplaceAll(s, "\n", "; "))
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
