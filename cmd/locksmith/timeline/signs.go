package timeline

import "locksmith/cmd/locksmith/timeline/svg"

// legend explains the signs that are in the picture.
func (p *picture) legend(found []*process) {
	has := p.signs(found)
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
		if has[s.sign] {
			s.draw(x)
			p.Text("note", "", s.words, x+28, y)
			x += 28 + float64(len(s.words))*nameWidth + 16
		}
	}
}

// signs returns which signs are in the picture.
func (p *picture) signs(found []*process) map[string]bool {
	has := map[string]bool{}
	for _, f := range found {
		from, held := f.held()
		for _, part := range f.parts {
			has[part.mode] = has[part.mode] || held
			has["broken"] = has["broken"] || part.over != nil
			has["lapsed"] = has["lapsed"] || f.isOver() && part.lapsed().Before(part.until())
			has["unaware"] = has["unaware"] || part.over != nil && f.isOver()
		}
		waited := !held || from.After(f.began())
		has["wait"] = has["wait"] || waited
		has["aside"] = has["aside"] || waited && f.knowsWhich()
		has["release"] = has["release"] || p.showsRelease(f)
		has["open"] = has["open"] || !f.isOver()
		for _, m := range f.moments {
			has[string(m.Kind)] = true
		}
	}
	return has
}

// cross draws a cross at a position.
func (p *picture) cross(class, tooltip string, x, y, size float64) {
	d := "M" + svg.Number(x-size) + " " + svg.Number(y-size) + "L" + svg.Number(x+size) + " " + svg.Number(y+size) +
		"M" + svg.Number(x-size) + " " + svg.Number(y+size) + "L" + svg.Number(x+size) + " " + svg.Number(y-size)
	p.Element("path", tooltip, "", "class", class, "d", d)
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
