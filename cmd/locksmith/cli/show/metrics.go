package show

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"locksmith/cmd/locksmith/cli/term"
)

// metrics prints OpenMetrics for a textfile collector. All samples of a metric come together, so
// they are kept.
type metrics struct {
	out     io.Writer
	samples map[string][]byte // of each family
	seen    map[string]bool   // of samples, each of which may be there once, though places may overlap
	errors  int
	left    int // how many locks are not in the list
}

// families are the metrics of each lock.
var families = []struct{ name, help string }{
	{"held", "How many hold the lock."},
	{"held_seconds", "For how long the first of them has held it."},
	{"dead", "How many of them are proven dead."},
	{"verdict", "How many of them are alive, stopped, dead, left over or unknown, as far as is known here."},
	{"blocked", "How many of them nothing frees by itself: a person must."},
	{"heartbeat_seconds", "The age of the last heartbeat of the holder that is nearest to the end of its lease, or beyond."},
	{"lease_seconds", "The lease of that holder."},
	{"max_hold_seconds", "The --max-hold of that of them which has the shortest."},
	{"waiters", "How many wait for the lock, at least; for local: and flock: none is told if none is seen."},
	{"wait_seconds", "For how long the first of them has waited."},
	{"last_success_seconds", "The age of the last success that run --once-per put down."},
}

// Add takes a lock down. Of a lock that could not be seen nothing is known.
func (m *metrics) Add(l Lock, err error) {
	if err != nil {
		m.errors++
		m.left += leftOut(err)
	}
	lock := label(l.Lock)
	if l.Lock == "" || l.Error != "" || m.seen[lock] {
		return
	}
	m.seen[lock] = true
	m.holders(lock, l.Holders)
	if n := max(len(l.Waiters), l.AtLeast); n > 0 || l.Waiters != nil {
		m.sample("waiters", lock, n)
	}
	if ms := oldest(l.Waiters); ms > 0 { // else it is not known, or there is none
		m.sample("wait_seconds", lock, seconds(ms))
	}
	if l.Success != nil {
		m.sample("last_success_seconds", lock, seconds(l.Success.AgoMS))
	}
}

// holders takes down what is known of holders or waiters. It leaves out the rest.
func (m *metrics) holders(lock string, all []*Holder) {
	byVerdict, gone, stuck, limit := map[string]int{}, 0, 0, int64(0)
	var silent *Holder
	for _, h := range all {
		byVerdict[h.Verdict]++
		if h.state.IsDead() {
			gone++
		}
		if h.Blocked {
			stuck++
		}
		if limit == 0 || h.MaxHoldMS > 0 && h.MaxHoldMS < limit {
			limit = h.MaxHoldMS
		}
		if h.LeaseMS > 0 && h.silence() > 0 && (silent == nil || h.silence()*silent.LeaseMS > silent.silence()*h.LeaseMS) {
			silent = h
		}
	}
	m.sample("held", lock, len(all))
	m.sample("dead", lock, gone)
	m.sample("blocked", lock, stuck)
	for _, v := range slices.Sorted(maps.Keys(byVerdict)) {
		m.sample("verdict", lock, byVerdict[v], fmt.Sprintf(`,verdict="%s"`, v))
	}
	if ms := oldest(all); ms > 0 { // else it is not known
		m.sample("held_seconds", lock, seconds(ms))
	}
	if limit > 0 {
		m.sample("max_hold_seconds", lock, seconds(limit))
	}
	if silent != nil {
		m.sample("heartbeat_seconds", lock, seconds(silent.silence()))
		m.sample("lease_seconds", lock, seconds(silent.LeaseMS))
	}
}

// silence is the age of the last sign of life, in milliseconds, by the clock of the lock's
// place; or the least age that this host knows; or 0 if it is not known.
func (h *Holder) silence() int64 { return h.state.Old.Milliseconds() }

func oldest(all []*Holder) (ms int64) {
	for _, h := range all {
		ms = max(ms, h.AgeMS)
	}
	return ms
}

func seconds(ms int64) float64 { return float64(ms) / 1000 }

// label is the value of a label.
func label(lock string) string {
	var shown strings.Builder // first, because a backslash of its own is no escape in a label
	_, _ = term.Escaper{Out: &shown}.Write([]byte(lock))
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(shown.String())
}

// sample takes down a value of a lock, with more labels of its own.
func (m *metrics) sample(family, lock string, value any, more ...string) {
	m.samples[family] = fmt.Appendf(m.samples[family], "locksmith_lock_%s{lock=\"%s\"%s} %v\n", family, lock, strings.Join(more, ""), value)
}

func (m *metrics) End() error {
	var text strings.Builder
	for _, f := range families {
		fmt.Fprintf(&text, "# HELP locksmith_lock_%[1]s %[2]s\n# TYPE locksmith_lock_%[1]s gauge\n%[3]s", f.name, f.help, m.samples[f.name])
	}
	total := func(name, help string, n int) {
		fmt.Fprintf(&text, "# HELP %[1]s %[2]s\n# TYPE %[1]s gauge\n%[1]s %[3]d\n", name, help, n)
	}
	total("locksmith_list_left_out", "How many locks are left out because there are too many.", m.left)
	total("locksmith_list_errors", "What could not be looked at.", m.errors)
	text.WriteString("# EOF\n")
	_, err := io.WriteString(m.out, text.String())
	return err
}
