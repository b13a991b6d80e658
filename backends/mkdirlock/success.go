package mkdirlock

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/success"
)

// A success is kept as a directory beside the lock in the style of directories, with the name
// done.<n>.<id>.<seconds>.<host>. The greatest n is the last. Its age is told by the times of
// the server: it is compared with a directory that was made just now. The seconds, since
// 1970, are by the clock of the holder, and for people. Locksmiths that know nothing of
// successes leave them alone, and refuse to remove the lock.

const successPrefix = "done."

// maxHost bounds the name of a host in a name, in bytes.
const maxHost = 64

// A succeeded is what is in the name of a success.
type succeeded struct {
	n    uint64
	id   string
	at   int64
	host string
}

func (s succeeded) String() string {
	return fmt.Sprintf("%s%d.%s.%d.%s", successPrefix, s.n, s.id, s.at, base64.RawURLEncoding.EncodeToString([]byte(s.host)))
}

func parseSuccess(name string) (succeeded, bool) {
	rest, ok := strings.CutPrefix(name, successPrefix)
	fields := strings.Split(rest, ".")
	if !ok || len(fields) != 4 {
		return succeeded{}, false
	}
	n, err1 := strconv.ParseUint(fields[0], 10, 64)
	at, err2 := strconv.ParseInt(fields[2], 10, 64)
	host, err3 := base64.RawURLEncoding.DecodeString(fields[3])
	s := succeeded{n, fields[1], at, string(host)}
	return s, err1 == nil && err2 == nil && err3 == nil && n > 0 && n < maxToken && owner.IsID(s.id) && s.String() == name
}

func successesIn(names []string) (all []success.Mark) {
	for _, name := range names {
		if s, ok := parseSuccess(name); ok {
			all = append(all, success.Mark{Name: name, Number: s.n, At: time.Unix(s.at, 0), Host: s.host})
		}
	}
	return all
}

// successes are those that a listing showed.
type successes struct {
	hold    *hold // ours; nil: for whoever only reads their names
	marks   []success.Mark
	entries []Entry // with the times of the server, where it was now; nil: nobody needs them
	now     time.Time
}

// List implements success.Store.
func (s successes) List(context.Context) ([]success.Mark, error) { return s.marks, nil }

// Read implements success.Store.
func (s successes) Read(_ context.Context, m *success.Mark) error {
	i := slices.IndexFunc(s.entries, func(e Entry) bool { return e.Name == m.Name })
	if i < 0 {
		return nil
	}
	e := s.entries[i]
	if e.Modified.IsZero() {
		return s.hold.lock.fail("look at the last success", errors.New("its time is not known"))
	}
	ago := age(e, s.now)
	if d := s.now.Sub(e.Modified); d < 0 && (e.Precise || d < -clockStep) {
		ago = d
	}
	m.At = s.now.Add(-ago)
	return nil
}

// clockStep is by how much local times to the minute may go back by themselves, when summer
// ends.
const clockStep = time.Hour + time.Minute

// Write implements success.Store.
func (s successes) Write(ctx context.Context, n uint64) (success.Mark, error) {
	l, dir := s.hold.lock, s.hold.dir
	host := cmp.Or(s.hold.claim.record.Place.Host, "?")
	m := success.Mark{Name: succeeded{n, s.hold.ID(), l.Today().Unix(), host[:min(len(host), maxHost)]}.String(), Number: n}
	at := l.Name + "/" + m.Name
	if err := dir.Mkdir(ctx, at); err != nil {
		if there, _ := l.exists(ctx, dir, at); !there {
			return m, l.fail("record the success", err)
		}
	}
	return m, nil
}

// Remove implements success.Store.
func (s successes) Remove(ctx context.Context, m success.Mark) error {
	_ = s.hold.dir.Rmdir(ctx, s.hold.lock.Name+"/"+m.Name) // the next one tries again
	return nil
}

var _ backend.SuccessKeeper = TreeLock{}

// LastSuccess implements backend.SuccessKeeper.
func (l TreeLock) LastSuccess(ctx context.Context, held backend.Hold) (*backend.Success, error) {
	h := held.(*hold)
	dir, ok := h.dir.(StatDir)
	if !ok {
		return nil, l.usage("look for the last success", "this place does not tell times", "use another kind of lock")
	}
	// Others take it for an empty reservation and nothing else.
	entries, now, err := l.listWithNow(ctx, dir, reservationPrefix+ticket{lease: owner.MinLease, id: l.NewID()}.String())
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	return success.Last(ctx, successes{hold: h, marks: successesIn(names), entries: entries, now: now}, now)
}

// RecordSuccess implements backend.SuccessKeeper.
func (l TreeLock) RecordSuccess(ctx context.Context, held backend.Hold) error {
	h := held.(*hold)
	if err := h.Heartbeat(ctx); err != nil {
		return err
	}
	names, err := h.dir.List(ctx, l.Name)
	if err != nil {
		return l.fail("record the success", err)
	}
	before := successesIn(names)
	return success.Record(ctx, successes{hold: h, marks: before}, success.Newest(before).Number+1)
}
