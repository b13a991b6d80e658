package timeline

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"locksmith/protocol"
)

// An svg is a picture that is being written.
type svg struct{ bytes.Buffer }

// element writes an element: its attributes as pairs of a name and a string or a
// number, its tooltip and its text, either of which may be empty.
func (s *svg) element(name, tooltip, text string, attributes ...any) {
	s.open(name, attributes...)
	if tooltip != "" {
		s.open("title")
		s.escape(tooltip)
		s.close("title")
	}
	s.escape(text)
	s.close(name)
	s.WriteByte('\n')
}

func (s *svg) open(name string, attributes ...any) {
	s.WriteString("<" + name)
	for i := 0; i < len(attributes); i += 2 {
		s.WriteString(" " + attributes[i].(string) + `="`)
		switch value := attributes[i+1].(type) {
		case string:
			s.escape(value)
		case float64:
			s.WriteString(number(value))
		}
		s.WriteByte('"')
	}
	s.WriteByte('>')
}

func (s *svg) close(name string) { s.WriteString("</" + name + ">") }

func (s *svg) escape(text string) { s.WriteString(entities.Replace(strings.Map(fit, text))) }

// Package encoding/xml has these, too, and tables that every helper would make when it
// starts.
var entities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "\n", "&#xA;")

// fit replaces what XML cannot hold, or should not.
func fit(r rune) rune {
	if protocol.IsControl(r) && r != '\n' || r == 0xFFFE || r == 0xFFFF {
		return utf8.RuneError
	}
	return r
}

// number prints a tenth of a pixel at most.
func number(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

func (s *svg) rect(class, tooltip string, x, y, width, height float64) {
	s.element("rect", tooltip, "", "class", class, "x", x, "y", y, "width", width, "height", height)
}

func (s *svg) line(class, tooltip string, x1, y1, x2, y2 float64) {
	s.element("line", tooltip, "", "class", class, "x1", x1, "y1", y1, "x2", x2, "y2", y2)
}

func (s *svg) text(class, tooltip, text string, x, y float64) {
	s.element("text", tooltip, text, "class", class, "x", x, "y", y)
}

// cross marks a place.
func (s *svg) cross(class, tooltip string, x, y, size float64) {
	d := "M" + number(x-size) + " " + number(y-size) + "L" + number(x+size) + " " + number(y+size) +
		"M" + number(x-size) + " " + number(y+size) + "L" + number(x+size) + " " + number(y-size)
	s.element("path", tooltip, "", "class", class, "d", d)
}
