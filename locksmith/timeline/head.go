package timeline

import (
	"fmt"

	"locksmith/locksmith/events"
)

// head writes what the picture is about, and what its signs mean.
func (p *picture) head(found []*process, left int) {
	heading := plural(len(p.groups), "lock", "locks")
	if len(p.groups) == 1 {
		heading = clean(p.groups[0].lock, int((p.right()+endWidth)/titleWidth))
	}
	p.text("heading", "", heading, margin, 24)
	text := fmt.Sprintf("from %s UTC for %s · %s", p.from.UTC().Format("2006-01-02 15:04:05.000"), duration(p.last.Sub(p.from)), sum(found))
	if left > 0 {
		text += fmt.Sprintf(" · %d more not drawn", left)
	}
	p.text("note", "", text, margin, 42)
	p.legend(found)
}

// sum counts what became of processes.
func sum(found []*process) string {
	hosts, held, ends := map[string]bool{}, 0, map[events.Kind]int{}
	for _, f := range found {
		hosts[f.first().Host] = true
		if _, ok := f.held(); ok {
			held++
		}
		if f.isOver() {
			ends[f.last().Kind]++
		} else {
			ends[""]++
		}
	}
	text := fmt.Sprintf("%s on %s · %d held", plural(len(found), "process", "processes"), plural(len(hosts), "host", "hosts"), held)
	for _, end := range []struct {
		kind events.Kind
		name string
	}{{events.Lost, "lost"}, {events.GaveUp, "gave up"}, {"", "without an end"}} {
		if n := ends[end.kind]; n > 0 {
			text += fmt.Sprintf(" · %d %s", n, end.name)
		}
	}
	return text
}
