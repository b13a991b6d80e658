package timeline

// legend explains the signs that are in the picture.
func (p *picture) legend(found []*process) {
	has := p.signs(found)
	x, y := margin, 59.0
	for _, s := range []struct {
		sign, words string
		draw        func(x float64)
	}{
		{"wait", "waiting", func(x float64) { p.rect("wait", "", x, y-6, 22, 5) }},
		{"aside", "waiting for another of its set", func(x float64) { p.line("aside", "", x, y-4, x+22, y-4) }},
		{"exclusive", "holding alone", func(x float64) { p.rect("exclusive", "", x, y-9, 22, 11) }},
		{"shared", "holding, shared", func(x float64) { p.rect("shared", "", x, y-9, 22, 11) }},
		{"release", "letting go", func(x float64) { p.rect("exclusive", "", x, y-5, 22, 3) }},
		{"late", "heartbeat late", func(x float64) { p.line("late", "", x+11, y-11, x+11, y+4) }},
		{"lost", "lost", func(x float64) { p.cross("lost", "", x+11, y-4, 5) }},
		{"gave-up", "gave up", func(x float64) { p.cross("gave-up", "", x+11, y-4, 3.5) }},
		{"open", "killed, or still there", func(x float64) { p.rect("open exclusive", "", x, y-9, 22, 11) }},
	} {
		if has[s.sign] {
			s.draw(x)
			p.text("note", "", s.words, x+28, y)
			x += 28 + float64(len(s.words))*nameWidth + 16
		}
	}
}

// signs tells which signs there are.
func (p *picture) signs(found []*process) map[string]bool {
	has := map[string]bool{}
	for _, f := range found {
		from, held := f.held()
		for _, part := range f.parts {
			has[part.mode] = has[part.mode] || held
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
