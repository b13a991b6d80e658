package timeline

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"locksmith/locksmith/events"
)

// clean leaves of a text what can be seen, and at most max characters of it.
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

func nameOf(e events.Event) string {
	return clean(fmt.Sprintf("%s %d %s", e.Host, e.PID, e.Command), maxName)
}

func holderName(h *events.Holder) string {
	if h == nil {
		return "somebody unknown"
	}
	name := h.User + "@" + h.Host
	if h.User == "" && h.Host == "" {
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
	switch {
	case d >= time.Minute:
		d = d.Round(time.Second)
	case d >= time.Second:
		d = d.Round(time.Millisecond)
	default:
		d = d.Round(time.Microsecond)
	}
	return d.String()
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// about describes a process.
func about(p *process) string {
	e := p.first()
	lines := []string{fmt.Sprintf("%s, pid %d", e.Host, e.PID)}
	if e.Command != "" {
		lines[0] += ", " + e.Command
	}
	for _, lock := range e.Locks {
		lines = append(lines, e.Mode+" "+clean(lock, maxLock))
	}
	if m, ok := p.acquired(); ok {
		lines = append(lines, "id "+clean(m.ID, maxName))
	}
	for i, l := range lines {
		lines[i] = clean(l, maxText)
	}
	return strings.Join(lines, "\n")
}

// aboutWait describes a wait, and whom it was for.
func aboutWait(p *process, from, to time.Time) string {
	text := fmt.Sprintf("waited %s, from %s to %s", duration(to.Sub(from)), clockTime(from), clockTime(to))
	seen := p.all(events.Waiting)
	if len(seen) == 0 {
		return text
	}
	text += "\nbehind " + holderName(seen[0].Holder)
	if n := len(seen); n > 1 {
		text += fmt.Sprintf(",\nafter %s behind %s", plural(n-1, "change", "changes"), holderName(seen[n-1].Holder))
	}
	return text
}

// aboutHold describes how a lock was held.
func aboutHold(p *process, from, to time.Time) string {
	text := fmt.Sprintf("held %s for %s, from %s to %s", p.first().Mode, duration(to.Sub(from)), clockTime(from), clockTime(to))
	if !p.isOver() {
		text = fmt.Sprintf("held %s from %s; its end is not known", p.first().Mode, clockTime(from))
	}
	if m, ok := p.acquired(); ok && m.Token != 0 {
		text += fmt.Sprintf("\ntoken %d", m.Token)
	}
	return text
}

func aboutRelease(p *process) string {
	return "released within " + duration(p.last().Release)
}

func aboutLate(m moment) string {
	text := fmt.Sprintf("heartbeat %s late at %s", duration(m.Late), clockTime(m.at))
	if m.Text != "" {
		text += "\n" + clean(m.Text, maxText)
	}
	return text
}

func aboutEnd(m moment) string {
	return fmt.Sprintf("%s: %s at %s\n%s", m.Kind, clean(string(m.Code), maxName), clockTime(m.at), clean(m.Text, maxText))
}
