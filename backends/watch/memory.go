package watch

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
)

// A Memory is what the tries of one user on one machine have seen of one lock. It has the last
// sign of life of each holder and waiter, and when that sign was first seen. A later try goes on
// with the watch of an earlier one. So tries that never wait for a whole lease break a dead holder
// together.
//
// A try goes on with a watch if all of this is so:
//
//   - The sign is the same, and is one that never comes back (Seen.Lasting). So there was no
//     heartbeat since the look that first showed it, even if nobody looked in between, or a look
//     failed: that does not end the watch.
//   - It is the sign of the same acquisition, by its id.
//   - The same clock timed it: that of one boot of one machine.
//   - The time when the sign was first seen was read after that look, so it is never too early. A
//     try may save late, or replace what another try saved. At worst a watch then begins anew, since
//     a sign that was replaced never comes back.
//   - Nothing is known of the holder's processes (owner.Unknown). If the kernel knows that some of
//     them may go on (owner.Orphaned), only a try that itself waits for a whole lease may break the
//     holder.
//
// If a memory is lost or cannot be read, watches begin now. If a lock's place is set back to an
// older state, as from a backup, a sign that was gone may come back. Then a living holder can be
// broken. But whoever may write to that place can break a living holder in any case.
type Memory struct {
	clock string // its name, see NewMemory
	store Store
	debug func(error)

	mu      sync.Mutex
	loaded  bool
	changed bool
	seen    map[string]sighting // by the id of the acquisition
}

// A Store keeps a text for later tries.
type Store interface {
	// Load returns what was saved last, or "" if nothing was.
	Load() (string, error)
	Save(text string) error
}

// A sighting is the last sign that somebody showed.
type sighting struct {
	sign  string // its hash
	since time.Duration
	own   bool // this process has seen it, not only earlier ones
}

// NewMemory returns the memory that a store has. clock is the name of the clock of all requests with
// this memory. The clock of another boot or machine has another name. An error of the store only
// costs time, and debug is told of it.
func NewMemory(clock string, s Store, debug func(error)) *Memory {
	return &Memory{clock: clock, store: s, debug: debug, seen: map[string]sighting{}}
}

// mayRemember reports whether later tries may go on with the watch of a holder or waiter. They may
// if only silence can tell whether it is dead, and its signs never come back.
func mayRemember(v owner.Verdict, lasting bool) bool { return lasting && v == owner.Unknown }

// Since implements backend.Memory. A time after now does not count: after the caller read its clock,
// another try may have seen the sign and saved a later time.
func (m *Memory) Since(id, sign string, now time.Duration) time.Duration {
	if !owner.IsID(id) {
		return now
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.load()
	//rule:whose
	s := m.seen[id]
	if sign = short(sign); s.sign != sign || s.since > now {
		//rule:new-sign
		s = sighting{sign: sign, since: now}
		m.changed = true
	}
	s.own = true
	m.seen[id] = s
	if len(m.seen) > 2*maxSightings {
		m.shrink()
	}
	return s.since
}

// Known implements backend.Memory. A lock of directories (mkdirlock) also keeps here which
// reservations it could not remove. The sign that it gives them is not one of life.
func (m *Memory) Known(sign string) (ids []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.load()
	sign = short(sign)
	for id, s := range m.seen {
		if s.sign == sign {
			ids = append(ids, id)
		}
	}
	return ids
}

// Tell adds to an inspection's report for at least how long each holder and waiter was silent.
// before and now are readings of the clock from before and after the inspection.
func (m *Memory) Tell(r *backend.Report, before, now time.Duration) {
	for _, all := range [][]backend.Holder{r.Holders, r.Waiters} {
		for i := range all {
			if h := &all[i]; h.Sign != "" && mayRemember(h.Verdict, h.Lasting) {
				h.Silent = max(before-m.Since(h.ID, h.Sign, now), 0)
			}
		}
	}
}

// Save keeps what was seen for later tries. While the store hangs, the memory can be used.
func (m *Memory) Save() {
	text, changed := m.toSave()
	if !changed {
		return
	}
	if err := m.store.Save(text); err != nil {
		m.debug(fmt.Errorf("what was seen of others is not remembered: %w", err))
		m.mu.Lock()
		defer m.mu.Unlock()
		m.changed = true
	}
}

// toSave returns what is to be saved, if it has changed since it was asked for last.
func (m *Memory) toSave() (text string, changed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.changed {
		return "", false
	}
	m.shrink()
	m.changed = false
	return m.format(), true
}

// maxSightings is how many sightings are kept. A lock may have many shared holders.
const maxSightings = 500

// shrink keeps the first maxSightings of the order, and drops the rest.
func (m *Memory) shrink() {
	for _, id := range m.order()[min(len(m.seen), maxSightings):] {
		delete(m.seen, id)
	}
}

// order returns the ids: first those that this process saw, then the rest. Each of the two parts
// begins with the sign that was first seen last.
func (m *Memory) order() []string {
	return slices.SortedFunc(maps.Keys(m.seen), func(a, b string) int {
		x, y := m.seen[a], m.seen[b]
		switch {
		case x.own != y.own && x.own:
			return -1
		case x.own != y.own:
			return 1
		}
		return cmp.Or(cmp.Compare(y.since, x.since), strings.Compare(a, b))
	})
}

// format returns a line with a hash of what follows (check), and then a line for each sighting.
func (m *Memory) format() string {
	var b strings.Builder
	for _, id := range m.order() {
		fmt.Fprintln(&b, id, m.seen[id].sign, int64(m.seen[id].since))
	}
	return m.check(b.String()) + "\n" + b.String()
}

// check covers the clock's name, too, so that times of another clock do not count.
func (m *Memory) check(text string) string { return short("locksmith 1\n" + m.clock + "\n" + text) }

// load reads what earlier tries have seen.
func (m *Memory) load() {
	if m.loaded {
		return
	}
	m.loaded = true
	text, err := m.store.Load()
	if err == nil && text != "" {
		err = m.parse(text)
	}
	if err != nil {
		m.debug(fmt.Errorf("what earlier tries saw of others does not count: %w", err))
	}
}

var errForeign = errors.New("it is not as locksmith wrote it since this machine was started")

func (m *Memory) parse(text string) error {
	check, rest, _ := strings.Cut(text, "\n")
	//rule:boot
	if check != m.check(rest) {
		return errForeign
	}
	for line := range strings.Lines(rest) {
		words := strings.Fields(line)
		if len(words) != 3 {
			return errForeign
		}
		since, err := strconv.ParseInt(words[2], 10, 64)
		if err != nil || !owner.IsID(words[0]) {
			return errForeign
		}
		m.seen[words[0]] = sighting{sign: words[1], since: time.Duration(since)}
	}
	return nil
}

// short is a hash that stands for a text of any length.
func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// IsFine reports whether a file's time has digits below a millisecond. Such a time is a lasting
// sign: a server's clock that is set back does not show the very same time again. Where times have
// coarse steps, such as whole seconds, it might.
func IsFine(t time.Time) bool { return t.Nanosecond()%int(time.Millisecond) != 0 }
