package plot

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
)

// An svg is a picture that is being written.
type svg struct{ bytes.Buffer }

// element writes an element with attributes, as pairs of a name and a value, and text.
func (s *svg) element(name, text string, attributes ...any) {
	s.WriteString("<" + name)
	for i := 0; i < len(attributes); i += 2 {
		fmt.Fprintf(s, ` %s="`, attributes[i])
		switch value := attributes[i+1].(type) {
		case float64:
			s.WriteString(pixels(value))
		default:
			s.escape(fmt.Sprint(value))
		}
		s.WriteByte('"')
	}
	s.WriteByte('>')
	s.escape(text)
	s.WriteString("</" + name + ">\n")
}

func (s *svg) escape(text string) {
	_ = xml.EscapeText(s, []byte(text)) // a buffer takes everything
}

func (s *svg) line(class string, x1, y1, x2, y2 float64) {
	s.element("line", "", "class", class, "x1", x1, "y1", y1, "x2", x2, "y2", y2)
}

func (s *svg) text(class, text string, x, y float64) {
	s.element("text", text, "class", class, "x", x, "y", y)
}

// pixels prints a tenth of a pixel at most.
func pixels(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}
