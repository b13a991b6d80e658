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
)

// A success is kept as a directory beside the lock in the style of directories, with the name
// done.<n>.<id>.<seconds>.<host>. The greatest n is the last. Its age is told by the times of
// the server: it is compared with a directory that was made just now. The seconds, since
// 1970, are by the clock of the holder, and for people. Locksmiths that know nothing of
// successes leave them alone, and refuse to remove the lock.

const successPrefix = "done."

// maxHost bounds the name of a host in a name, in bytes.
const maxHost = 64

type success struct {
	n    uint64
	id   string
	at   int64
	host string
}

func (s success) String() string {
	return fmt.Sprintf("%s%d.%s.%d.%s", successPrefix, s.n, s.id, s.at, base64.RawURLEncoding.EncodeToString([]byte(s.host)))
}

func parseSuccess(name string) (success, bool) {
	rest, ok := strings.CutPrefix(name, successPrefix)
	fields := strings.Split(rest, ".")
	if !ok || len(fields) != 4 {
		return success{}, false
	}
	n, err1 := strconv.ParseUint(fields[0], 10, 64)
	at, err2 := strconv.ParseInt(fields[2], 10, 64)
	host, err3 := base64.RawURLEncoding.DecodeString(fields[3])
	s := success{n, fields[1], at, string(host)}
	return s, err1 == nil && err2 == nil && err3 == nil && n > 0 && n < maxToken && owner.IsID(s.id) && s.String() == name
}

func successesIn(names []string) (all []success) {
	for _, name := range names {
		if s, ok := parseSuccess(name); ok {
			all = append(all, s)
		}
	}
	return all
}

// newestSuccess returns the one with the greatest n, 0 if there is none.
func newestSuccess(all []success) (newest success) {
	for _, s := range all {
		if s.n > newest.n {
			newest = s
		}
	}
	return newest
}

var _ backend.SuccessKeeper = TreeLock{}

// LastSuccess implements backend.SuccessKeeper.
func (l TreeLock) LastSuccess(ctx context.Context, held backend.Hold) (*backend.Success, error) {
	dir, ok := held.(*hold).dir.(StatDir)
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
	last := newestSuccess(successesIn(names))
	if last.n == 0 {
		return nil, nil
	}
	e := entries[slices.Index(names, last.String())]
	if e.Modified.IsZero() {
		return nil, l.fail("look at the last success", errors.New("its time is not known"))
	}
	ago := age(e, now)
	if d := now.Sub(e.Modified); d < 0 && (e.Precise || d < -clockStep) {
		ago = d
	}
	return &backend.Success{Ago: ago, Host: last.host}, nil
}

// clockStep is by how much local times to the minute may go back by themselves, when summer
// ends.
const clockStep = time.Hour + time.Minute

// RecordSuccess implements backend.SuccessKeeper.
func (l TreeLock) RecordSuccess(ctx context.Context, held backend.Hold) error {
	h := held.(*hold)
	if err := h.Heartbeat(ctx); err != nil {
		return err
	}
	const op = "record the success"
	names, err := h.dir.List(ctx, l.Name)
	if err != nil {
		return l.fail(op, err)
	}
	before := successesIn(names)
	host := cmp.Or(h.claim.record.Place.Host, "?")
	ours := success{newestSuccess(before).n + 1, h.ID(), l.Today().Unix(), host[:min(len(host), maxHost)]}
	at := l.Name + "/" + ours.String()
	if err := h.dir.Mkdir(ctx, at); err != nil {
		if there, _ := l.exists(ctx, h.dir, at); !there {
			return l.fail(op, err)
		}
	}
	for _, s := range before {
		_ = h.dir.Rmdir(ctx, l.Name+"/"+s.String()) // the next one tries again
	}
	return nil
}

// success sees the last one, for people.
func (i *inspection) success(names []string) {
	if last := newestSuccess(successesIn(names)); last.n > 0 {
		i.report.Success = &backend.Success{Ago: i.lock.Today().Sub(time.Unix(last.at, 0)), Host: last.host}
	}
}
