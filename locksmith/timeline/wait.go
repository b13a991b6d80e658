package timeline

import "time"

// wait draws a wait: thin and hatched, and only outlined where its end is not known.
// While a set waits for another of its locks there is only a line.
func (p *picture) wait(f part, to time.Time, middle float64) {
	known := to
	if _, held := f.held(); !held && !f.isOver() {
		known = f.last().at
	}
	if f.knowsWhich() {
		p.line("aside", aboutSet(f, f.began(), known), p.x(f.began()), middle, p.x(known), middle)
	}
	spans := f.waits(to)
	p.spans(f, spans, known, middle)
	switch {
	case known.Equal(to):
	case len(spans) > 0 && spans[len(spans)-1].to.Equal(to):
		p.bar("open wait", "", known, to, middle, p.row*.3)
	default:
		p.line("open aside", "", p.x(known), middle, p.x(to), middle)
	}
}

// spans draws when a process waited for a lock, as far as that is known, unless it would
// hide what is drawn already.
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
