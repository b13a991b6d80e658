package show

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A table shows a lock in a line that fits the terminal, and what more is known in a second one.
// Its columns have their widths before the first line, so each lock is shown when it is found.
type table struct {
	out                 io.Writer
	width, lock, holder int // of the terminal, and of columns
	begun               bool
}

// Widths of columns: those with texts of ours, and the least of the two others together.
const (
	stateWidth, sinceWidth, modeWidth, waitingWidth = 7, 7, 9, 7
	leastTexts                                      = 24
)

func newTable(out io.Writer, width int) *table {
	texts := max(width-stateWidth-sinceWidth-modeWidth-waitingWidth-5, leastTexts)
	return &table{out: out, width: width, lock: texts * 3 / 5, holder: texts - texts*3/5}
}

// Add leaves errors to standard error.
func (t *table) Add(l Lock, _ error) {
	if l.Lock == "" {
		return
	}
	if !t.begun {
		t.begun = true
		t.line("LOCK", "STATE", "HOLDER", "SINCE", "MODE", "WAITING")
	}
	holder, since, mode, waiting, state := "", "", "", "", l.State
	if len(l.Holders) > 0 {
		h := l.Holders[0]
		holder, since, mode = h.name(), short(time.Duration(h.AgeMS)*time.Millisecond), Text(h.Mode)
		if h.state.IsAmiss() {
			state = h.Verdict
		}
		if more := len(l.Holders) - 1; more > 0 {
			holder = fmt.Sprintf("%s +%d", cut(holder, t.holder-4), more)
		}
	}
	if n := len(l.Waiters); n > 0 {
		waiting = strconv.Itoa(n)
	} else if l.AtLeast > 0 {
		waiting = fmt.Sprintf("≥%d", l.AtLeast)
	}
	t.line(cutFront(Text(l.Lock), t.lock), cut(state, stateWidth), cut(holder, t.holder), since, cut(mode, modeWidth), waiting)
	if more := l.more(); more != "" {
		fmt.Fprintln(t.out, cut("  "+more, t.width))
	}
}

// more says what has no column: of the first holder its pid, the age of its last heartbeat, which
// is marked when its lease is over, and its metadata; of the lock, the last success.
func (l *Lock) more() string {
	var all []string
	if len(l.Holders) > 0 {
		all = l.Holders[0].more()
	}
	if s := l.seen.Success; s != nil {
		all = append(all, Text(s.String()))
	}
	return strings.Join(all, ", ")
}

func (h *Holder) more() (all []string) {
	switch {
	case h.ProgramPID != 0:
		all = append(all, fmt.Sprintf("pid %d", h.ProgramPID))
	case h.Program != "" && h.PID != 0:
		all = append(all, fmt.Sprintf("helper's pid %d", h.PID))
	case h.PID != 0:
		all = append(all, fmt.Sprintf("pid %d", h.PID))
	}
	switch {
	case h.state.Over:
		all = append(all, fmt.Sprintf("! heartbeat %s ago: lease of %s over", short(h.state.Old), short(time.Duration(h.LeaseMS)*time.Millisecond)))
	case h.state.Old > 0:
		all = append(all, fmt.Sprintf("heartbeat %s ago", short(h.state.Old)))
	}
	if h.Blocked {
		all = append(all, "! nothing frees it by itself")
	}
	for _, key := range slices.Sorted(maps.Keys(h.Meta)) {
		all = append(all, Text(key+"="+h.Meta[key]))
	}
	return all
}

func (t *table) line(lock, state, holder, since, mode, waiting string) {
	text := fmt.Sprintf("%-*s %-*s %-*s %*s %-*s %*s", t.lock, lock, stateWidth, state, t.holder, holder, sinceWidth, since, modeWidth, mode, waitingWidth, waiting)
	fmt.Fprintln(t.out, strings.TrimRight(text, " "))
}

func (*table) End() error { return nil }

// name says in a few words who holds a lock.
func (h *Holder) name() string {
	who := "somebody unknown"
	if h.User != "" || h.Host != "" {
		who = h.User + "@" + h.Host
	}
	if job := h.Meta["job"]; job != "" {
		return Text(job + " " + who)
	}
	if h.Program != "" {
		return Text(h.Program + " " + who)
	}
	return Text(who)
}

// cut keeps the beginning of a text.
func cut(text string, width int) string {
	if r := []rune(text); len(r) > width {
		return string(r[:max(width-1, 0)]) + "…"
	}
	return text
}

// cutFront keeps the end of a text, where the names of locks differ.
func cutFront(text string, width int) string {
	if r := []rune(text); len(r) > width {
		return "…" + string(r[len(r)-width+1:])
	}
	return text
}

// short is a duration in its two greatest units.
func short(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= day:
		return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%ds", d/time.Second)
}
