package timeline

import (
	"fmt"
	"strconv"
	"time"

	"locksmith/locksmith/events"
)

// part draws one row. Its top is at y.
func (p *picture) part(f part, y float64) {
	middle := y + p.row/2
	p.Text("name", about(f), f.name(), margin, middle+4)
	from, held := f.held()
	if !held {
		p.wait(f, p.end(f.process), middle)
	} else {
		if from.After(f.began()) {
			p.wait(f, from, middle)
		}
		p.hold(f, from, middle)
	}
	p.late(f.process, middle)
	p.finish(f, middle)
}

// late draws a mark for each late heartbeat, unless the mark would hide another one.
func (p *picture) late(f *process, middle float64) {
	drawn := -minBar
	for _, m := range f.all(events.Late) {
		if x := p.x(m.at); x-drawn >= minBar {
			p.Line("late", aboutLate(m), x, middle-p.row*.45, x, middle+p.row*.45)
			drawn = x
		}
	}
}

// end is when the process ended, or the end of the picture.
func (p *picture) end(f *process) time.Time {
	if f.isOver() {
		return f.last().at
	}
	return p.to
}

// bar draws a bar from one time to another, and returns its width.
func (p *picture) bar(class, tooltip string, from, to time.Time, middle, height float64) float64 {
	width := max(p.x(to)-p.x(from), minBar)
	p.Rect(class, tooltip, p.x(from), middle-height/2, width, height)
	return width
}

// hold draws a hold, with the token if there is room.
func (p *picture) hold(f part, from time.Time, middle float64) {
	class, height := f.mode, p.row*.7
	to := p.end(f.process)
	if f.over != nil {
		p.holdUntilEnded(f, from, middle)
		return
	}
	if f.isOver() {
		until := to.Add(-f.last().Release)
		if p.showsRelease(f.process) {
			p.bar(class, aboutRelease(f.process), until, to, middle, p.row*.15)
		}
		if over := f.lapsed(); over.Before(until) {
			p.bar("lapsed "+class, aboutLapse(f), over, until, middle, height)
			until = over
		}
		width := p.bar(class, aboutHold(f, from, until), from, until, middle, height)
		p.token(f, p.x(from), width, middle, "token")
		return
	}
	if seen := f.last().at; seen.After(from) {
		p.bar(class, aboutHold(f, from, seen), from, seen, middle, height)
		from = seen
	}
	width := p.bar("open "+class, aboutHold(f, from, to), from, to, middle, height)
	p.token(f, p.x(from), width, middle, "tick")
}

// holdUntilEnded draws a hold that others ended. The bar ends where they ended the hold. Where
// nothing is known of the process any more, the bar is only outlined. A thin line leads to the
// time at which the process noticed its loss.
func (p *picture) holdUntilEnded(f part, from time.Time, middle float64) {
	to, seen, height := f.over.at, f.over.at, p.row*.7
	if last := f.lapsed(); last.Before(to) {
		seen = last
	}
	text := aboutHold(f, from, to)
	if seen.Equal(to) {
		p.token(f, p.x(from), p.bar(f.mode, text, from, to, middle, height), middle, "token")
	} else {
		if seen.After(from) {
			p.bar(f.mode, text, from, seen, middle, height)
		}
		class := "open "
		if f.isOver() {
			class, text = "lapsed ", aboutLapse(f)
		}
		p.token(f, p.x(seen), p.bar(class+f.mode, text, seen, to, middle, height), middle, "tick")
	}
	if f.isOver() {
		p.Line("unaware", aboutEnd(f.last()), p.x(to), middle, p.x(f.last().at), middle)
	}
	p.Line("broken", aboutEnding(f), p.x(to), middle-p.row*.45, p.x(to), middle+p.row*.45)
}

// showsRelease reports whether the release took long enough to be seen.
func (p *picture) showsRelease(f *process) bool {
	to := f.last().at
	return p.x(to)-p.x(to.Add(-f.last().Release)) >= minBar
}

// token writes the token on a bar. If there is no room, it writes the token after the bar, if the
// bar is the end of its row.
func (p *picture) token(f part, x, width, middle float64, class string) {
	if f.token == 0 {
		return
	}
	text := "#" + strconv.FormatUint(f.token, 10)
	if float64(len(text))*nameWidth+4 <= width {
		p.Text(class, "", text, x+width/2, middle+4)
	} else if end := f.last(); end.Kind == events.Released {
		p.Text("note", "", text, p.x(end.at)+5, middle+4)
	}
}

// finish marks an end that is not a release.
func (p *picture) finish(f part, middle float64) {
	m := f.last()
	x := p.x(m.at)
	switch {
	case m.Kind == events.Lost:
		p.cross("lost", aboutEnd(m), x, middle, p.row*.3)
		p.Text("bad", aboutEnd(m), fmt.Sprintf("lost: %s", clean(string(m.Code), 12)), x+p.row*.3+5, middle+4)
	case m.Kind == events.GaveUp:
		p.cross("gave-up", aboutEnd(m), x, middle, p.row*.2)
		p.Text("note", aboutEnd(m), fmt.Sprintf("gave up: %s", clean(string(m.Code), 12)), x+p.row*.2+6, middle+4)
	case f.over != nil:
		p.Text("bad", aboutEnding(f), f.over.word(), p.x(f.over.at)+5, middle+4)
	case !m.Kind.IsLast():
		p.Text("note", "there is no event about its end: it is still there, or was killed", "→ no end yet", p.right()+4, middle+4)
	}
}

// wait draws a wait: a thin hatched bar, only outlined where the end of the wait is not known.
// While a set waits for another of its locks, there is only a line.
func (p *picture) wait(f part, to time.Time, middle float64) {
	known := to
	if _, held := f.held(); !held && !f.isOver() {
		known = f.last().at
	}
	if f.knowsWhich() {
		p.Line("aside", aboutSet(f, f.began(), known), p.x(f.began()), middle, p.x(known), middle)
	}
	spans := f.waits(to)
	p.spans(f, spans, known, middle)
	switch {
	case known.Equal(to):
	case len(spans) > 0 && spans[len(spans)-1].to.Equal(to):
		p.bar("open wait", "", known, to, middle, p.row*.3)
	default:
		p.Line("open aside", "", p.x(known), middle, p.x(to), middle)
	}
}

// spans draws when a process waited for a lock, as far as that is known. It leaves out spans that
// would hide the one before.
func (p *picture) spans(f part, spans []span, known time.Time, middle float64) {
	drawn := p.x(f.began()) - minBar
	for _, s := range spans {
		if s.to.After(known) {
			s.to = known
		}
		if p.x(s.to)-drawn >= minBar {
			drawn = p.x(s.from) + p.bar("wait", aboutWait(f, s), s.from, s.to, middle, p.row*.3)
		}
	}
}
