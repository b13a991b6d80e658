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
	if l.Lock == "" || l.Error != "" {
		return
	}
	age, dead := int64(0), 0
	for _, h := range l.Holders {
		age = max(age, h.AgeMS)
		if h.Verdict == "dead" {
			dead++
		}
	}
	m.sample(0, l.Lock, len(l.Holders))
	if len(l.Holders) > 0 {
		m.sample(1, l.Lock, float64(age)/1000)
	}
	m.sample(2, l.Lock, dead)
	m.sample(3, l.Lock, len(l.Waiters))
}

// label escapes a label's value.
func label(value string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value)
}

func (m *metrics) sample(family int, lock string, value any) {
	var shown strings.Builder // first: a backslash of its own is no escape in a label
	_, _ = term.Escaper{Out: &shown}.Write([]byte(lock))
	fmt.Fprintf(&m.samples[family], "%s{lock=\"%s\"} %v\n", families[family].name, label(shown.String()), value)
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
