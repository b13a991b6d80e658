// Package timeline draws the history of locks as a picture: which processes held, which waited,
// and what went wrong. Each process has a row, and each lock a group of rows. Rows are in the
// order in which the processes got the lock. A set of locks has a row in the group of each of its
// locks. In that row the set waits while this lock is not free. While another lock of the set is
// not free, the row has only a line.
//
// The picture is an SVG that needs nothing else: it has its own background, no script and no
// link. The same events, in any order, give the same bytes. A text in the events is only ever
// text in the picture.
//
// The times of one host are by its clock since boot, so setting its calendar moves nothing. The
// calendars place hosts beside each other, as exactly as they are set.
package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"locksmith/cmd/locksmith/timeline/svg"
	"locksmith/locksmith/events"
)

// Measures in pixels.
const (
	margin     = 12.0
	plotWidth  = 900.0
	endWidth   = 110.0 // for words after the end of a bar
	headHeight = 84.0
	footHeight = 24.0
	nameWidth  = 6.4 // of one character of a name, about
	titleWidth = 8.2 // of one character of the heading
	lockHeight = 26.0
	minBar     = 1.0
)

// manyRows is the number of rows from which rows are lower.
const manyRows = 100

// A picture is an SVG that is being drawn.
type picture struct {
	svg.Picture
	axis
	last          time.Time // the last time of which anything is known
	row           float64   // height of a row
	width, height float64
	groups        [][]*part // the rows of each lock
}

// Draw draws the processes of the events: as many of the first ones as fit in the given number of
// rows, and at least one. There must be an event. It returns how many processes were left out.
func Draw(all []events.Event, rows int) (drawn []byte, left int) {
	found := processes(all)
	slices.SortStableFunc(found, func(a, b *process) int { return a.began.Compare(b.began) })
	n := slices.IndexFunc(found, func(f *process) bool {
		rows -= len(f.parts)
		return rows < 0 && f != found[0]
	})
	if n < 0 {
		n = len(found)
	}
	found, left = found[:n], len(found)-n
	p := layOut(found)
	p.ground()
	p.rows()
	body := p.Picture // the head tells of the signs that are in it
	p.Picture = svg.Picture{}
	p.begin()
	p.head(found, left, body.Classes)
	p.Write(body.Bytes())
	p.WriteString("</g>")
	p.End()
	return p.Bytes(), left
}

// layOut computes the measures of the picture. The axis is longer than 0. If a process has no known end,
// there is also room after the last known time.
func layOut(found []*process) *picture {
	p := &picture{axis: axis{width: plotWidth}, groups: groups(found), row: 20}
	names, n := 0, 0
	for _, f := range found {
		if p.from.IsZero() || f.began.Before(p.from) {
			p.from = f.began
		}
		if f.last.at.After(p.last) {
			p.last = f.last.at
		}
		names = max(names, utf8.RuneCountInString(f.name()))
		n += len(f.parts)
	}
	span := p.last.Sub(p.from)
	if slices.ContainsFunc(found, (*process).isOpen) {
		span += span / 30
	}
	p.to = p.from.Add(max(span, time.Microsecond))
	if n > manyRows {
		p.row = 13
	}
	p.left = margin + float64(names)*nameWidth + margin
	p.width = p.right() + endWidth + margin
	p.height = headHeight + float64(n)*p.row + footHeight
	if len(p.groups) > 1 {
		p.height += float64(len(p.groups)) * lockHeight
	}
	return p
}

func (p *picture) begin() {
	p.Begin(p.width, p.height, style)
	p.WriteString(hatch)
	p.Rect("paper", "", 0, 0, p.width, p.height)
	class := ""
	if p.row < 20 {
		class = "small"
	}
	p.Open("g", "class", class)
	p.WriteByte('\n')
}

// ground draws what is behind the bars: the grid, and its times above and below.
func (p *picture) ground() {
	for _, t := range p.ticks() {
		x := p.x(t.at)
		p.Line("grid", "", x, headHeight-4, x, p.height-footHeight+4)
		when := t.at.UTC().Format("2006-01-02 ") + clockTime(t.at)
		p.Text("tick", when, t.name, x, headHeight-8)
		p.Text("tick", when, t.name, x, p.height-8)
	}
}

func (p *picture) rows() {
	y := headHeight
	for _, rows := range p.groups {
		if len(p.groups) > 1 {
			p.Text("lock", "", clean(rows[0].lock(), maxLock), margin, y+lockHeight-8)
			y += lockHeight
		}
		for i, f := range rows {
			if i%2 == 0 {
				p.Rect("stripe", "", 0, y, p.width, p.row)
			}
			p.part(f, y+p.row/2)
			y += p.row
		}
	}
}

// head writes what the picture is about, and what its signs mean.
func (p *picture) head(found []*process, left int, classes map[string]bool) {
	heading := plural(len(p.groups), "lock", "locks")
	if len(p.groups) == 1 {
		heading = clean(p.groups[0][0].lock(), int((p.width-margin)/titleWidth))
	}
	p.Text("heading", "", heading, margin, 24)
	text := fmt.Sprintf("from %s UTC for %s · %s", p.from.UTC().Format("2006-01-02 15:04:05.000"), duration(p.last.Sub(p.from)), sum(found))
	if left > 0 {
		text += fmt.Sprintf(" · %d more not drawn", left)
	}
	p.Text("note", "", text, margin, 42)
	p.legend(classes)
}

// sum counts how processes ended.
func sum(found []*process) string {
	hosts, held, ends := map[string]bool{}, 0, map[string]int{}
	for _, f := range found {
		hosts[f.first.Host] = true
		if f.held() {
			held++
		}
		switch {
		case f.isOver:
			ends[string(f.last.Kind)]++
		case f.isOpen():
			ends["without an end"]++
		default:
			ends["ended by others"]++
		}
	}
	text := fmt.Sprintf("%s on %s · %d held", plural(len(found), "process", "processes"), plural(len(hosts), "host", "hosts"), held)
	for _, end := range []string{"lost", "gave-up", "ended by others", "without an end"} {
		if n := ends[end]; n > 0 {
			text += fmt.Sprintf(" · %d %s", n, strings.ReplaceAll(end, "-", " "))
		}
	}
	return text
}

func (p *picture) cross(class, tooltip string, x, y, size float64) {
	n := svg.Number
	p.Element("path", class, tooltip, "", "d", "M"+n(x-size)+" "+n(y-size)+"L"+n(x+size)+" "+n(y+size)+
		"M"+n(x-size)+" "+n(y+size)+"L"+n(x+size)+" "+n(y-size))
}

// legend explains the signs that are in the picture, by their classes.
func (p *picture) legend(classes map[string]bool) {
	x, y := margin, 59.0
	for _, s := range []struct {
		sign, words string
		draw        func(x float64)
	}{
		{"wait", "waiting", func(x float64) { p.Rect("wait", "", x, y-6, 22, 5) }},
		{"aside", "waiting for another of its set", func(x float64) { p.Line("aside", "", x, y-4, x+22, y-4) }},
		{"exclusive", "holding alone", func(x float64) { p.Rect("exclusive", "", x, y-9, 22, 11) }},
		{"shared", "holding, shared", func(x float64) { p.Rect("shared", "", x, y-9, 22, 11) }},
		{"release", "letting go", func(x float64) { p.Rect("exclusive", "", x, y-5, 22, 3) }},
		{"lapsed", "lease over", func(x float64) { p.Rect("lapsed exclusive", "", x, y-9, 22, 11) }},
		{"late", "heartbeat late", func(x float64) { p.Line("late", "", x+11, y-11, x+11, y+4) }},
		{"lost", "lost", func(x float64) { p.cross("lost", "", x+11, y-4, 5) }},
		{"broken", "ended by others", func(x float64) { p.Line("broken", "", x+11, y-11, x+11, y+4) }},
		{"unaware", "unaware", func(x float64) { p.Line("unaware", "", x, y-4, x+22, y-4) }},
		{"gave-up", "gave up", func(x float64) { p.cross("gave-up", "", x+11, y-4, 3.5) }},
		{"open", "killed, or still there", func(x float64) { p.Rect("open exclusive", "", x, y-9, 22, 11) }},
	} {
		if classes[s.sign] {
			s.draw(x)
			p.Text("note", "", s.words, x+28, y)
			x += 28 + float64(len(s.words))*nameWidth + 16
		}
	}
}

// style has colours that are distinct for people who see red and green alike. Text on a bar has
// enough contrast with all of them.
const style = `
text{font-family:Helvetica,Arial,"Liberation Sans",sans-serif;font-size:11px;fill:#222}
.paper{fill:#fff}
.stripe{fill:#f4f5f7}
text.heading{font-size:15px;font-weight:bold}
text.lock{font-size:12px;font-weight:bold}
text.note{fill:#555}
text.tick{fill:#555;text-anchor:middle}
text.token{fill:#fff;text-anchor:middle}
text.bad{fill:#b3261e;font-weight:bold}
.small .name,.small .token,.small .bad{font-size:9px}
.grid{stroke:#d5d8dd;stroke-width:1}
.wait{fill:url(#hatch);stroke:#8a8f98;stroke-width:.5}
.aside{stroke:#8a8f98;stroke-width:1}
.exclusive{fill:#0b5cad}
.shared{fill:#0a7d5a}
.lapsed{fill-opacity:.3}
.open{fill-opacity:.15;stroke-width:1.5;stroke-dasharray:5 3}
.open.exclusive{stroke:#0b5cad}
.open.shared{stroke:#0a7d5a}
.open.wait{fill:none;stroke:#8a8f98}
.late{stroke:#f2a100;stroke-width:2.5}
.lost{fill:none;stroke:#b3261e;stroke-width:3}
.broken{stroke:#b3261e;stroke-width:2.5}
.unaware{stroke:#b3261e;stroke-width:1}
.gave-up{fill:none;stroke:#555;stroke-width:2}
`

// hatch is the filling of waits.
const hatch = `<defs><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">` +
	`<rect width="5" height="5" fill="#eceef1"/><line x1="0" y1="0" x2="0" y2="5" stroke="#a3a8b0" stroke-width="2.5"/></pattern></defs>` + "\n"
