package plot

import "strings"

// Measures in pixels.
const (
	margin      = 16.0
	headHeight  = 76.0
	panelWidth  = 420.0
	panelHeight = 270.0
	left        = 64.0 // of a panel, for the names of ticks
	top         = 30.0 // of a panel, for its title
	foot        = 36.0 // of a panel, for the names of ticks
	columns     = 2
)

// Draw draws panels beside each other, two in a row, which share what their X is.
func Draw(heading, x string, panels []Panel) []byte {
	width := 2*margin + columns*panelWidth
	rows := (len(panels) + columns - 1) / columns
	height := headHeight + float64(rows)*panelHeight + margin
	var s svg
	s.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" role="img" width="` + pixels(width) + `" height="` + pixels(height) +
		`" viewBox="0 0 ` + pixels(width) + " " + pixels(height) + `">` + "\n<style>" + style + "</style>\n")
	s.element("rect", "", "class", "paper", "width", width, "height", height)
	s.text("heading", heading, margin, margin+14)
	for i, p := range panels {
		if i == 0 {
			s.legend(p.Curves)
		}
		s.panel(p, x, margin+float64(i%columns)*panelWidth, headHeight+float64(i/columns)*panelHeight)
	}
	s.WriteString("</svg>\n")
	return s.Bytes()
}

// legend names the curves, all in one line.
func (s *svg) legend(curves []Curve) {
	at, y := margin, margin+38
	for i, c := range curves {
		s.line(class(i)+" curve", at, y-4, at+36, y-4)
		s.mark(i, at+18, y-4)
		s.text("note", c.Name, at+44, y)
		at += 44 + float64(len([]rune(c.Name)))*6.6 + 24
	}
}

func class(curve int) string { return "c" + string(rune('0'+curve%5)) }

// panel draws at a place.
func (s *svg) panel(p Panel, xName string, x, y float64) {
	xs, ys := p.values()
	across := newAxis(2, xs, x+left, x+panelWidth-margin)
	up := newAxis(10, ys, y+panelHeight-foot, y+top)
	s.text("title", p.Title, x+left, y+top-10)
	for _, t := range across.ticks() {
		s.line("grid", across.at(t.value), up.from, across.at(t.value), up.to)
		s.text("x", t.name, across.at(t.value), up.from+15)
	}
	for _, t := range up.ticks() {
		s.line("grid", across.from, up.at(t.value), across.to, up.at(t.value))
		s.text("y", t.name, across.from-6, up.at(t.value)+4)
	}
	s.text("x", xName, (across.from+across.to)/2, up.from+29)
	for i, c := range p.Curves {
		s.curve(i, c, across, up)
	}
}

func (p Panel) values() (xs, ys []float64) {
	for _, c := range p.Curves {
		for _, at := range c.Points {
			xs, ys = append(xs, at.X), append(ys, at.Y)
		}
	}
	return xs, ys
}

func (s *svg) curve(i int, c Curve, across, up axis) {
	var places []string
	for _, p := range c.Points {
		places = append(places, pixels(across.at(p.X))+","+pixels(up.at(p.Y)))
	}
	s.element("polyline", "", "class", class(i)+" curve", "points", strings.Join(places, " "))
	for _, p := range c.Points {
		s.mark(i, across.at(p.X), up.at(p.Y))
	}
}

// mark has a shape of its own for each curve.
func (s *svg) mark(i int, x, y float64) {
	const r = 3.5
	name := class(i) + " mark"
	switch i % 4 {
	case 0:
		s.element("circle", "", "class", name, "cx", x, "cy", y, "r", r)
	case 1:
		s.element("rect", "", "class", name, "x", x-r, "y", y-r, "width", 2*r, "height", 2*r)
	default:
		tip := r + 1
		if i%4 == 3 {
			tip = -tip
		}
		s.element("path", "", "class", name, "d", "M"+pixels(x-r-1)+" "+pixels(y+tip*.7)+"L"+pixels(x+r+1)+" "+pixels(y+tip*.7)+"L"+pixels(x)+" "+pixels(y-tip)+"Z")
	}
}
