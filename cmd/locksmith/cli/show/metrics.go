package show

import (
	"fmt"
	"io"
	"strings"

	"locksmith/cmd/locksmith/cli/term"
)

// metrics prints OpenMetrics, as a textfile collector reads them. All samples of a metric
// come together, so they are kept.
type metrics struct {
	out     io.Writer
	samples [len(families)]strings.Builder
	seen    map[string]bool // labels, each of which may be there once: places may overlap
	errors  int
}

// families are the metrics of each lock.
var families = [...]struct{ name, help string }{
	{"locksmith_lock_held", "How many hold the lock."},
	{"locksmith_lock_held_seconds", "For how long the first of them has held it."},
	{"locksmith_lock_dead", "How many of them are proven dead."},
	{"locksmith_lock_waiters", "How many wait for the lock."},
}

// Add takes a lock down. Of one that could not be seen nothing is known.
func (m *metrics) Add(l Lock, err error) {
	if err != nil {
		m.errors++
	}
	lock := label(l.Lock)
	if l.Lock == "" || l.Error != "" || m.seen[lock] {
		return
	}
	m.seen[lock] = true
	age, dead := int64(0), 0
	for _, h := range l.Holders {
		age = max(age, h.AgeMS)
		if h.Verdict == "dead" {
			dead++
		}
	}
	m.sample(0, lock, len(l.Holders))
	if len(l.Holders) > 0 {
		m.sample(1, lock, float64(age)/1000)
	}
	m.sample(2, lock, dead)
	m.sample(3, lock, len(l.Waiters))
}

// label is the value of a label.
func label(lock string) string {
	var shown strings.Builder // first: a backslash of its own is no escape in a label
	_, _ = term.Escaper{Out: &shown}.Write([]byte(lock))
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(shown.String())
}

func (m *metrics) sample(family int, lock string, value any) {
	fmt.Fprintf(&m.samples[family], "%s{lock=\"%s\"} %v\n", families[family].name, lock, value)
}

func (m *metrics) End() error {
	var text strings.Builder
	for i, f := range families {
		fmt.Fprintf(&text, "# HELP %s %s\n# TYPE %s gauge\n%s", f.name, f.help, f.name, &m.samples[i])
	}
	fmt.Fprintf(&text, "# HELP locksmith_list_errors What could not be looked at.\n# TYPE locksmith_list_errors gauge\nlocksmith_list_errors %d\n# EOF\n", m.errors)
	_, err := io.WriteString(m.out, text.String())
	return err
}
