package timeline

import (
	"strconv"
	"time"

	"locksmith/locksmith/events"
)

// part draws one row, around the height middle.
func (p *picture) part(f *part, middle float64) {
	p.Text("name", about(f), f.name(), margin, middle+4)
	if !f.held() {
		p.wait(f, p.end(f), middle)
	} else {
		if f.from.After(f.began) {
			p.wait(f, f.from, middle)
		}
		p.hold(f, middle)
	}
	drawn := -minBar
	for _, m := range f.all(events.Late) {
		if x := p.x(m.at); x-drawn >= minBar { // else it would hide another one
			p.stroke("late", aboutLate(m), m.at, middle)
			drawn = x
		}
	}
	p.finish(f, middle)
}

// end is when the process ended, or the end of the picture.
func (p *picture) end(f *part) time.Time {
	if f.isOver {
		return f.last.at
	}
	return p.to
}

// bar draws a bar from one time to another, and returns its width.
func (p *picture) bar(class, tooltip string, from, to time.Time, middle, height float64) float64 {
	width := max(p.x(to)-p.x(from), minBar)
	p.Rect(class, tooltip, p.x(from), middle-p.row*height/2, width, p.row*height)
	return width
}

// line draws a line from one time to another.
func (p *picture) line(class, tooltip string, from, to time.Time, middle float64) {
	p.Line(class, tooltip, p.x(from), middle, p.x(to), middle)
}

// stroke draws a line across the row.
func (p *picture) stroke(class, tooltip string, at time.Time, middle float64) {
	p.Line(class, tooltip, p.x(at), middle-p.row*.45, p.x(at), middle+p.row*.45)
}

// hold draws a hold, with the token if there is room. The bar ends where others ended the hold, or where
// the release began. From where nothing is known of the process any more the bar is only outlined, and
// from where its lease was over it is faint. A thin line leads from where others ended the hold to the
// time at which the process noticed its loss.
func (p *picture) hold(f *part, middle float64) {
	const height = .7
	to, sure := p.end(f).Add(-f.last.Release.Span()), f.lapsed()
	if f.over != nil {
		to = f.over.at
	}
	if p.x(f.last.at)-p.x(to) >= minBar && f.last.Kind == events.Released {
		p.bar(f.mode, "released within "+duration(f.last.Release.Span()), to, f.last.at, middle, .15)
		p.Classes["release"] = true
	}
	if sure.After(to) {
		sure = to
	}
	at, class, width, told := f.from, "token", 0.0, to
	if f.over == nil {
		told = sure
	}
	if sure.After(f.from) || sure.Equal(to) {
		width = p.bar(f.mode, aboutHold(f, told), f.from, sure, middle, height)
	}
	if sure.Before(to) && f.isOver {
		at, class, width = sure, "tick", p.bar("lapsed "+f.mode, aboutLapse(f), sure, to, middle, height)
	} else if sure.Before(to) {
		at, class, width = sure, "tick", p.bar("open "+f.mode, aboutHold(f, to), sure, to, middle, height)
	}
	p.token(f, p.x(at), width, middle, class)
	if f.over != nil && f.isOver {
		p.line("unaware", aboutEnd(f.last), to, f.last.at, middle)
	}
	if f.over != nil {
		p.stroke("broken", aboutEnding(f), to, middle)
	}
}

// token writes the token on a bar. If there is no room, it writes the token after the bar, if the
// bar is the end of its row.
func (p *picture) token(f *part, x, width, middle float64, class string) {
	text := "#" + strconv.FormatUint(f.token, 10)
	switch {
	case f.token == 0:
	case float64(len(text))*nameWidth+4 <= width:
		p.Text(class, "", text, x+width/2, middle+4)
	case f.last.Kind == events.Released:
		p.Text("note", "", text, p.x(f.last.at)+5, middle+4)
	}
}

// finish marks an end that is not a release.
func (p *picture) finish(f *part, middle float64) {
	m := f.last
	x := p.x(m.at)
	switch {
	case m.Kind == events.Lost:
		p.cross("lost", aboutEnd(m), x, middle, p.row*.3)
		p.Text("bad", aboutEnd(m), "lost: "+clean(string(m.Code), 12), x+p.row*.3+5, middle+4)
	case m.Kind == events.GaveUp:
		p.cross("gave-up", aboutEnd(m), x, middle, p.row*.2)
		p.Text("note", aboutEnd(m), "gave up: "+clean(string(m.Code), 12), x+p.row*.2+6, middle+4)
	case f.over != nil && f.broke:
		p.Text("bad", aboutEnding(f), "broken", p.x(f.over.at)+5, middle+4)
	case f.over != nil:
		p.Text("bad", aboutEnding(f), "ended: another has it", p.x(f.over.at)+5, middle+4)
	case !f.isOver:
		p.Text("note", "there is no event about its end: it is still there, or was killed", "→ no end yet", p.right()+4, middle+4)
	}
}

// wait draws a wait: a thin hatched bar, only outlined where the end of the wait is not known.
// While a set waits for another of its locks, there is only a line. Spans that would hide the one before
// are left out.
func (p *picture) wait(f *part, to time.Time, middle float64) {
	const height = .3
	known := to
	if !f.held() && !f.isOver {
		known = f.last.at
	}
	if f.knowsWhich {
		p.line("aside", aboutSet(f, known), f.began, known, middle)
	}
	open := false
	drawn := p.x(f.began) - minBar
	for _, s := range f.waits(to) {
		open = s.to.After(known)
		if open {
			s.to = known
		}
		if p.x(s.to)-drawn >= minBar {
			drawn = p.x(s.from) + p.bar("wait", aboutWait(f, s), s.from, s.to, middle, height)
		}
	}
	switch {
	case open:
		p.bar("open wait", "", known, to, middle, height)
	case known.Before(to):
		p.line("open aside", "", known, to, middle)
	}
}
