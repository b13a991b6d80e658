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
	last   time.Time // the last time of which anything is known
	row    float64   // height of a row
	height float64
	groups []group
}

// Draw draws the processes of the events: as many of the first ones as fit in the given number of
// rows. There must be an event. It returns how many processes were left out.
func Draw(all []events.Event, rows int) (drawn []byte, left int) {
	found := processes(all)
	slices.SortStableFunc(found, func(a, b *process) int { return a.began().Compare(b.began()) })
	n := fitting(found, rows)
	found, left = found[:n], len(found)-n
	p := layOut(found)
	p.begin()
	p.head(found, left)
	p.ground()
	p.rows()
	p.Close("g")
	p.End()
	return p.Bytes(), left
}

// fitting returns how many of the first processes fit in so many rows. The first one always
// counts.
func fitting(found []*process, rows int) int {
	for i, f := range found {
		if rows -= len(f.parts); rows < 0 {
			return max(i, 1)
		}
	}
	return len(found)
}

// layOut computes the measures of the picture.
func layOut(found []*process) *picture {
	p := &picture{axis: axis{width: plotWidth}, groups: groups(found), row: 20}
	names, n := 0, 0
	for _, f := range found {
		p.cover(f)
		names = max(names, utf8.RuneCountInString(f.name()))
		n += len(f.parts)
	}
	p.makeRoom(found)
	if n > manyRows {
		p.row = 13
	}
	p.left = margin + float64(names)*nameWidth + margin
	p.height = headHeight + float64(n)*p.row + footHeight
	if len(p.groups) > 1 {
		p.height += float64(len(p.groups)) * lockHeight
	}
	return p
}

// cover makes the axis long enough for a process.
func (p *picture) cover(f *process) {
	if began := f.began(); p.from.IsZero() || began.Before(p.from) {
		p.from = began
	}
	if last := f.last().at; last.After(p.to) {
		p.to = last
	}
}

// makeRoom makes the axis longer than 0. If a process has no known end, it also leaves room after
// the last known time.
func (p *picture) makeRoom(found []*process) {
	p.last = p.to
	if slices.ContainsFunc(found, (*process).isOpen) {
		p.to = p.to.Add(p.to.Sub(p.from) / 30)
	}
	if p.to.Sub(p.from) < time.Microsecond {
		p.to = p.from.Add(time.Microsecond)
	}
}

func (p *picture) begin() {
	width := p.right() + endWidth + margin
	p.Begin(width, p.height, style)
	p.WriteString(hatch)
	p.Rect("paper", "", 0, 0, width, p.height)
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
	for _, g := range p.groups {
		if len(p.groups) > 1 {
			p.Text("lock", "", clean(g.lock, maxLock), margin, y+lockHeight-8)
			y += lockHeight
		}
		for i, f := range g.rows {
			if i%2 == 0 {
				p.Rect("stripe", "", 0, y, p.right()+endWidth+margin, p.row)
			}
			p.part(f, y)
			y += p.row
		}
	}
}

// head writes what the picture is about, and what its signs mean.
func (p *picture) head(found []*process, left int) {
	heading := plural(len(p.groups), "lock", "locks")
	if len(p.groups) == 1 {
		heading = clean(p.groups[0].lock, int((p.right()+endWidth)/titleWidth))
	}
	p.Text("heading", "", heading, margin, 24)
	text := fmt.Sprintf("from %s UTC for %s · %s", p.from.UTC().Format("2006-01-02 15:04:05.000"), duration(p.last.Sub(p.from)), sum(found))
	if left > 0 {
		text += fmt.Sprintf(" · %d more not drawn", left)
	}
	p.Text("note", "", text, margin, 42)
	p.legend(found)
}

// sum counts how processes ended.
func sum(found []*process) string {
	hosts, held, ends := map[string]bool{}, 0, map[events.Kind]int{}
	for _, f := range found {
		hosts[f.first().Host] = true
		if _, ok := f.held(); ok {
			held++
		}
		switch {
		case f.isOver():
			ends[f.last().Kind]++
		case f.isOpen():
			ends[""]++
		default:
			ends[events.Broke]++
		}
	}
	text := fmt.Sprintf("%s on %s · %d held", plural(len(found), "process", "processes"), plural(len(hosts), "host", "hosts"), held)
	for _, end := range []struct {
		kind events.Kind
		name string
	}{{events.Lost, "lost"}, {events.GaveUp, "gave up"}, {events.Broke, "ended by others"}, {"", "without an end"}} {
		if n := ends[end.kind]; n > 0 {
			text += fmt.Sprintf(" · %d %s", n, end.name)
		}
	}
	return text
}
