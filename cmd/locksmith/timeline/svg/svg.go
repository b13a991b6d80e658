// Package svg writes pictures as SVG that need nothing else, no script and no link. Whatever a
// text contains is only ever text in the picture. The package knows only the elements that our
// pictures have. Lengths are in pixels, written to a tenth.
package svg

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"locksmith/protocol"
)

// A Picture is an SVG that is being written. The zero value is an empty one.
type Picture struct {
	bytes.Buffer
	// Classes are those of the elements that were written.
	Classes map[string]bool
}

// Begin opens a picture of the given size, with a style sheet. End closes it.
func (p *Picture) Begin(width, height float64, style string) {
	p.Open("svg", "xmlns", "http://www.w3.org/2000/svg", "role", "img", "width", width, "height", height,
		"viewBox", "0 0 "+Number(width)+" "+Number(height))
	p.WriteString("\n<style>" + style + "</style>\n")
}

// End closes the picture.
func (p *Picture) End() { p.WriteString("</svg>\n") }

// Element writes an element of some classes of the style sheet: its attributes as pairs of a name and a
// string or a number, its tooltip and its text, either of which may be empty.
func (p *Picture) Element(name, class, tooltip, text string, attributes ...any) {
	p.Open(name, append([]any{"class", class}, attributes...)...)
	if p.Classes == nil {
		p.Classes = map[string]bool{}
	}
	for one := range strings.FieldsSeq(class) {
		p.Classes[one] = true
	}
	if tooltip != "" {
		p.WriteString("<title>")
		p.escape(tooltip)
		p.WriteString("</title>")
	}
	p.escape(text)
	p.WriteString("</" + name + ">\n")
}

// Open writes the tag that begins an element, with attributes as Element has them.
func (p *Picture) Open(name string, attributes ...any) {
	p.WriteString("<" + name)
	for i := 0; i < len(attributes); i += 2 {
		p.WriteString(" " + attributes[i].(string) + `="`)
		switch value := attributes[i+1].(type) {
		case string:
			p.escape(value)
		case float64:
			p.WriteString(Number(value))
		}
		p.WriteByte('"')
	}
	p.WriteByte('>')
}

func (p *Picture) escape(text string) { p.WriteString(entities.Replace(strings.Map(fit, text))) }

// Package encoding/xml has these, too, but also tables that every helper would make when it
// starts.
var entities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "\n", "&#xA;")

// fit replaces characters that XML cannot or should not hold.
func fit(r rune) rune {
	if protocol.IsControl(r) && r != '\n' || r == 0xFFFE || r == 0xFFFF {
		return utf8.RuneError
	}
	return r
}

// Number prints a length for an attribute, with a tenth of a pixel at most.
func Number(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

// Rect draws a rectangle, whose upper left corner is at x and y.
func (p *Picture) Rect(class, tooltip string, x, y, width, height float64) {
	p.Element("rect", class, tooltip, "", "x", x, "y", y, "width", width, "height", height)
}

// Line draws a line.
func (p *Picture) Line(class, tooltip string, x1, y1, x2, y2 float64) {
	p.Element("line", class, tooltip, "", "x1", x1, "y1", y1, "x2", x2, "y2", y2)
}

// Text writes a line of text, whose base line is at y.
func (p *Picture) Text(class, tooltip, text string, x, y float64) {
	p.Element("text", class, tooltip, text, "x", x, "y", y)
}
