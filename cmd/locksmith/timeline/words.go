package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"locksmith/locksmith/events"
)

// clean replaces characters that cannot be seen, and cuts a text to max characters.
func clean(text string, max int) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text))
	if len(runes) > max {
		runes = append(runes[:max-1], '…')
	}
	return string(runes)
}

// Bounds of texts in the picture, in characters.
const (
	maxName = 40
	maxLock = 120
	maxText = 400
)

// metaOf is what the user said about a helper: key=value, in order, each after what joins it to the text
// before. Keys that are named elsewhere are left out.
func metaOf(e events.Event, join, but string) (text string) {
	for _, key := range slices.Sorted(maps.Keys(e.Meta)) {
		if key != but {
			text += join + key + "=" + e.Meta[key]
		}
	}
	return text
}

// name is the name of the process in the picture.
func (p *process) name() string { return strings.TrimRight(nameOf(p.first.Event), " ") }

func nameOf(e events.Event) string {
	return clean(fmt.Sprintf("%s %d %s", e.Host, e.PID, cmp.Or(e.Meta["job"], e.Command))+metaOf(e, " ", "job"), maxName)
}

func holderName(h events.Holder) string {
	name := h.User + "@" + h.Host
	switch {
	case h == (events.Holder{}):
		return "somebody unknown"
	case name == "@":
		name = "somebody"
	}
	if h.PID != 0 {
		name += " pid " + strconv.Itoa(h.PID)
	}
	return clean(name, maxText)
}

// clockTime is a time of the day to the microsecond.
func clockTime(t time.Time) string { return t.UTC().Format("15:04:05.000000") }

func duration(d time.Duration) string {
	digits := time.Microsecond
	switch {
	case d >= time.Minute:
		digits = time.Second
	case d >= time.Second:
		digits = time.Millisecond
	}
	return d.Round(digits).String()
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// about describes a process.
func about(f *part) string {
	e := f.first
	who := fmt.Sprintf("%s, pid %d", e.Host, e.PID)
	if e.Command != "" {
		who += ", " + e.Command
	}
	text := clean(who+metaOf(e.Event, ", ", ""), maxText) + "\n" + f.mode + " " + clean(f.lock(), maxLock)
	if f.id != "" {
		text += "\nid " + clean(f.id, maxName)
	}
	return text + restOf(f)
}

// aboutWait describes a wait for one lock, and the holders that were waited for.
func aboutWait(f *part, s span) string {
	text := fmt.Sprintf("waited %s, from %s to %s", duration(s.to.Sub(s.from)), clockTime(s.from), clockTime(s.to))
	if n := len(s.behind); n > 0 {
		text += "\nbehind " + holderName(s.behind[0].Holder)
		if n > 1 {
			text += fmt.Sprintf(",\nafter %s behind %s", plural(n-1, "change", "changes"), holderName(s.behind[n-1].Holder))
		}
	}
	return text + restOf(f)
}

// aboutSet describes the wait for a whole set.
func aboutSet(f *part, to time.Time) string {
	return fmt.Sprintf("waited %s for all of a set, from %s to %s", duration(to.Sub(f.began)), clockTime(f.began), clockTime(to)) + restOf(f)
}

// aboutHold describes how a lock was held.
func aboutHold(f *part, to time.Time) string {
	text := fmt.Sprintf("held %s for %s, from %s to %s", f.mode, duration(to.Sub(f.from)), clockTime(f.from), clockTime(to))
	switch {
	case f.over != nil:
		text += ";\n" + aboutEnding(f)
	case !f.isOver:
		text = fmt.Sprintf("held %s from %s; its end is not known", f.mode, clockTime(f.from))
	}
	if f.token != 0 {
		text += fmt.Sprintf("\ntoken %d", f.token)
	}
	return text + restOf(f)
}

// aboutLapse describes a time in which a process believed to hold a lock whose lease was over.
func aboutLapse(f *part) string {
	return fmt.Sprintf("no heartbeat for %s, and the lease was over at %s:\nsomebody else may have held the lock",
		duration(f.last.Silent.Span()), clockTime(f.lapsed()))
}

// aboutEnding describes how others ended a hold.
func aboutEnding(f *part) string {
	by, when := clean(nameOf(f.over.Event), maxName), clockTime(f.over.at)
	switch {
	case f.over.Kind == events.Broken:
		return "ended at " + when + ": " + clean(f.over.Why, maxText)
	case f.broke:
		return "broken at " + when + ", for " + by
	}
	return "over at " + when + " at the latest, when " + by + " got the lock"
}

// maxRest is how many other locks of its set a row names.
const maxRest = 5

// restOf names, line by line, the other locks of a part's set.
func restOf(f *part) (text string) {
	others := slices.DeleteFunc(slices.Clone(f.parts[:min(len(f.parts), maxRest+1)]), func(other *part) bool { return other == f })
	others = others[:min(len(others), maxRest)]
	for _, other := range others {
		text += "\ntogether with " + other.mode + " " + clean(other.lock(), maxLock)
	}
	if more := len(f.parts) - 1 - len(others) + f.first.More; more > 0 {
		text += fmt.Sprintf("\nand %d more", more)
	}
	return text
}

func aboutLate(m *moment) string {
	text := fmt.Sprintf("heartbeat %s late at %s", duration(m.Late.Span()), clockTime(m.at))
	if m.Error != "" {
		text += "\n" + clean(m.Error, maxText)
	}
	return text
}

func aboutEnd(m *moment) string {
	return fmt.Sprintf("%s: %s at %s\n%s", m.Kind, clean(string(m.Code), maxName), clockTime(m.at), clean(m.Text, maxText))
}
