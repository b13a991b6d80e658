// Package plot draws curves as an SVG that needs nothing else: it has its own background and
// colours, light or dark like the reader's, no script and no link. Both axes are logarithmic, and
// 0 lies on the ground line.
package plot

import (
	"iter"
	"math"
	"strconv"
	"strings"

	"locksmith/cmd/locksmith/timeline/svg"
)

// A Point is a place on a curve. X is above 0, and Y is not below.
type Point struct{ X, Y float64 }

// A Curve has its points in the order of their X.
type Curve struct {
	Name   string
	Points []Point
}

// A Panel is one pair of axes. The curves of all panels come in the same order.
type Panel struct {
	Title  string
	Curves []Curve
}

// Measures in pixels.
const (
	margin      = 16.0
	headHeight  = 76.0
	panelWidth  = 420.0
	panelHeight = 270.0
	left        = 64.0 // of a panel, for the names of ticks
	top         = 30.0 // of a panel, for its title
	foot        = 36.0 // of a panel, for the names of ticks
)

// A picture is an SVG that is being drawn.
type picture struct{ svg.Picture }

// Draw draws panels, two in a row; x names what X is in all of them.
func Draw(heading, x string, panels []Panel) []byte {
	width, height := 2*margin+2*panelWidth, headHeight+float64((len(panels)+1)/2)*panelHeight+margin
	var s picture
	s.Begin(width, height, style)
	s.Rect("paper", "", 0, 0, width, height)
	s.Text("heading", "", heading, margin, margin+14)
	for i, p := range panels {
		if i == 0 {
			s.legend(p.Curves)
		}
		s.panel(p, x, margin+float64(i%2)*panelWidth, headHeight+float64(i/2)*panelHeight)
	}
	s.End()
	return s.Bytes()
}

// legend names the curves, all in one line.
func (s *picture) legend(curves []Curve) {
	at, y := margin, margin+38
	for i, c := range curves {
		s.Line(class(i)+" curve", "", at, y-4, at+36, y-4)
		s.mark(i, at+18, y-4)
		s.Text("note", "", c.Name, at+44, y)
		at += 44 + float64(len([]rune(c.Name)))*6.6 + 24
	}
}

func class(curve int) string { return "c" + strconv.Itoa(curve%6) }

// panel draws at a place.
func (s *picture) panel(p Panel, xName string, x, y float64) {
	var xs, ys []float64
	for _, c := range p.Curves {
		for _, at := range c.Points {
			xs, ys = append(xs, at.X), append(ys, at.Y)
		}
	}
	across := newAxis(2, xs, x+left, x+panelWidth-margin)
	up := newAxis(10, ys, y+panelHeight-foot, y+top)
	s.Text("title", "", p.Title, x+left, y+top-10)
	for at, name := range across.ticks() {
		s.Line("grid", "", at, up.from, at, up.to)
		s.Text("x", "", name, at, up.from+15)
	}
	for at, name := range up.ticks() {
		s.Line("grid", "", across.from, at, across.to, at)
		s.Text("y", "", name, across.from-6, at+4)
	}
	s.Text("x", "", xName, (across.from+across.to)/2, up.from+29)
	for i, c := range p.Curves {
		var places []string
		for _, p := range c.Points {
			places = append(places, svg.Number(across.at(p.X))+","+svg.Number(up.at(p.Y)))
		}
		s.Element("polyline", class(i)+" curve", "", "", "points", strings.Join(places, " "))
		for _, p := range c.Points {
			s.mark(i, across.at(p.X), up.at(p.Y))
		}
	}
}

// mark draws a mark, of a shape of its own for each curve.
func (s *picture) mark(i int, x, y float64) {
	const r = 3.5
	name := class(i) + " mark"
	switch i % 4 {
	case 0:
		s.Element("circle", name, "", "", "cx", x, "cy", y, "r", r)
	case 1:
		s.Element("rect", name, "", "", "x", x-r, "y", y-r, "width", 2*r, "height", 2*r)
	default:
		tip := r + 1
		if i%4 == 3 {
			tip = -tip
		}
		base := " " + svg.Number(y+tip*.7) + "L"
		s.Element("path", name, "", "", "d", "M"+svg.Number(x-r-1)+base+svg.Number(x+r+1)+base+svg.Number(x)+" "+svg.Number(y-tip)+"Z")
	}
}

// An axis turns values into places, in pixels. Its ends are powers of its base.
type axis struct {
	base        float64
	least, most float64 // powers at the ends
	from, to    float64 // pixels there
	ground      bool    // at the first end is 0
}

// newAxis returns an axis that is long enough for all values.
func newAxis(base float64, values []float64, from, to float64) axis {
	a := axis{base: base, least: math.Inf(1), most: math.Inf(-1), from: from, to: to}
	for _, v := range values {
		if v <= 0 {
			a.ground = true
			continue
		}
		power := math.Log(v) / math.Log(base)
		// A value that misses a power only by rounding counts as that power.
		a.least, a.most = min(a.least, math.Floor(power+1e-9)), max(a.most, math.Ceil(power-1e-9))
	}
	if a.least > a.most {
		a.least, a.most = 0, 0
	}
	if a.ground {
		a.least--
	}
	a.most = max(a.most, a.least+1)
	return a
}

// at is where a value is.
func (a axis) at(v float64) float64 {
	power := a.least
	if v > 0 {
		power = max(power, math.Log(v)/math.Log(a.base))
	}
	return a.from + (a.to-a.from)*(power-a.least)/(a.most-a.least)
}

// ticks are places with the names of their values.
func (a axis) ticks() iter.Seq2[float64, string] {
	return func(yield func(float64, string) bool) {
		for p := a.least; p <= a.most; p++ {
			v := math.Pow(a.base, p)
			name := strconv.FormatFloat(v, 'f', -1, 64)
			if p == a.least && a.ground {
				name = "0"
			}
			if !yield(a.at(v), name) {
				return
			}
		}
	}
}

// style has colours that people who see red and green alike tell apart, on white and on
// black; the curves differ in their marks' shape and dashes, too.
const style = `
text{font-family:Helvetica,Arial,"Liberation Sans",sans-serif;font-size:12px;fill:#222}
text.heading{font-size:15px;font-weight:bold}
text.title{font-weight:bold}
text.note{fill:#555}
text.x{fill:#555;text-anchor:middle}
text.y{fill:#555;text-anchor:end}
.paper{fill:#fff}
.grid{stroke:#d5d8dd;stroke-width:1}
.curve{fill:none;stroke-width:2}
.c0{stroke:#0b5cad}.c1{stroke:#0a7d5a}.c2{stroke:#b26a00}.c3{stroke:#8a3ffc}.c4{stroke:#666}.c5{stroke:#b3261e}
.c1.curve{stroke-dasharray:9 3}.c2.curve{stroke-dasharray:4 3}.c3.curve{stroke-dasharray:1 3}.c4.curve{stroke-dasharray:12 3 2 3}.c5.curve{stroke-dasharray:16 5}
.mark{fill:#fff;stroke-width:2}
@media (prefers-color-scheme:dark){
text{fill:#e6e8eb}
text.note,text.x,text.y{fill:#a3a8b0}
.paper,.mark{fill:#0d1117}
.grid{stroke:#30363d}
.c0{stroke:#58a6ff}.c1{stroke:#3fb68b}.c2{stroke:#e3a33b}.c3{stroke:#bc8cff}.c4{stroke:#a3a8b0}.c5{stroke:#ff8a80}
}
`
