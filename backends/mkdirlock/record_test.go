//go:build unix

package mkdirlock

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/protocol"
	"locksmith/test/faulty"
)

// longMeta does not fit into one name.
func longMeta() []protocol.Field {
	random := rand.New(rand.NewPCG(3, 4))
	value := make([]byte, 1500)
	for i := range value {
		value[i] = byte(' ' + random.IntN(95))
	}
	return []protocol.Field{{Key: "job", Value: string(value)}}
}

// TestPartOfRecordComesLater: if a request to make a part of the record fails, it is made again,
// so that in the end everybody can tell who holds the lock.
func TestPartOfRecordComesLater(t *testing.T) {
	for about, err := range map[string]error{"answer lost": dirs.Outcome(unix.ETIMEDOUT), "refused": dirs.Outcome(unix.ENOENT)} {
		t.Run(name(about), func(t *testing.T) {
			eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
				failures := 0
				here := newHost("here", hooked(m, func(o faulty.Call) error {
					if o.Op == "mkdir" && strings.Contains(o.Name, "/"+labels.PartPrefix+"2.") && failures < 2 {
						failures++
						return err
					}
					return o.Do()
				}), k)
				r := here.by(7, "exclusive")
				r.Owner.Meta = longMeta()
				h := mustHold(t, here.ask(t, r))
				mustStillHold(t, h)
				mustStillHold(t, h)
				a := newHost("here", m, k).want(t, "exclusive")
				if held := mustBeHeld(t, a); held.Record == nil || failures < 2 {
					t.Errorf("the lock is held by %+v, want the whole record", held)
				}
				mustWithdraw(t, a)
				mustRelease(t, h)
				mustBeTidy(t, m, k)
			})
		})
	}
}

// TestPartOfRecordNeverComes: a holder lives on where the rest of its record cannot be
// written.
func TestPartOfRecordNeverComes(t *testing.T) {
	eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
		trouble := dirs.Outcome(unix.ETIMEDOUT)
		here := newHost("here", hooked(m, func(o faulty.Call) error {
			if o.Op == "mkdir" && strings.Contains(o.Name, "/"+labels.PartPrefix+"2.") {
				return trouble
			}
			return o.Do()
		}), k)
		r := here.by(7, "exclusive")
		r.Owner.Meta = longMeta()
		h := mustHold(t, here.ask(t, r))
		trouble = dirs.Outcome(unix.ENOSPC)
		mustStillHold(t, h)
		mustStillHold(t, h)
		mustRelease(t, h)
		mustBeTidy(t, m, k)
	})
}

// TestAgeIsNotTooLarge: what the record says of the time is no coarser than a clock.
func TestAgeIsNotTooLarge(t *testing.T) {
	eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
		time.Sleep(1999 * time.Millisecond)
		h := newHost("here", m, k).take(t, "exclusive")
		time.Sleep(50 * time.Millisecond)
		a := newHost("there", m, k).want(t, "exclusive")
		if held := mustBeHeld(t, a); held.Age != 50*time.Millisecond {
			t.Errorf("the holder seems to have held for %v, want 50 ms", held.Age)
		}
		mustWithdraw(t, a)
		mustRelease(t, h)
	})
}

// TestLongMetadata: whoever looks sees all of a long record, and a release leaves nothing of it.
func TestLongMetadata(t *testing.T) {
	eachKind(t, func(t *testing.T, m *memory, k kindOfLock) {
		here := newHost("here", m, k)
		r := here.Request("exclusive")
		r.Owner.Meta = longMeta()
		h := mustHold(t, here.ask(t, r))
		for range 2 {
			a := here.want(t, "exclusive")
			if held := mustBeHeld(t, a); held.Record == nil || !reflect.DeepEqual(held.Record.Meta, r.Owner.Meta) {
				t.Errorf("the lock is held by %+v, want all metadata", held)
			}
			mustWithdraw(t, a)
			mustStillHold(t, h)
		}
		mustRelease(t, h)
		mustBeTidy(t, m, k)
		r.Owner.Meta[0].Value = strings.Repeat("x", 5000)
		_, err := here.ask(t, r).Try(t.Context())
		mustFail(t, err, protocol.Usage, "shorten the metadata")
		mustBeTidy(t, m, k)
	})
}
