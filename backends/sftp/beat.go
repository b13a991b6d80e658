//go:build unix

package sftp

import (
	"context"
	"fmt"
	"path"
	"strings"
	"syscall"
	"time"

	"locksmith/backends/generation/symlinks"
)

// minLease lets heartbeats be a second apart, because version 3 of the protocol has whole
// seconds.
const minLease = 4 * time.Second

// A beat is what is known of the time of our own reservation. The protocol cannot ask for the
// server's now. So we count it from when the server made the reservation.
type beat struct {
	made   string        // the directory that we made last, not counting those among the generations
	madeAt time.Duration // when, by our clock
	listed uint32        // the time of made in a listing; 0: none

	name   string        // whose time last is
	last   uint32        // the time that was set last; 0: never
	offset time.Duration // the server's clock less ours; 0: not known
}

// Touch implements symlinks.Dir. It sets a time that is at least a whole second later than the
// last one, and never much later than the server's now. The first time, it looks whether that
// was done.
func (d *symlinkDir) Touch(ctx context.Context, name string) error {
	d.mu.Lock()
	b := d.beat
	d.mu.Unlock()
	first := b.name != name
	if first {
		if err := d.begin(ctx, &b, name); err != nil {
			return err
		}
	}
	now := uint32((b.offset + d.clock.Now()) / time.Second)
	b.last = max(b.last+1, now)
	seen, err := d.setTime(ctx, name, b.last, first)
	if err != nil {
		return err
	}
	if first && seen.modified != b.last { // the server may have executed the two requests in the other order
		if seen, err = d.lstat(ctx, name); err != nil {
			return d.asRefusal(d.op("look at", name), err)
		}
	}
	if first && seen.modified != b.last {
		return &ignoredError{d.op("set the time of", name)}
	}
	d.mu.Lock()
	d.beat.name, d.beat.last, d.beat.offset = b.name, b.last, b.offset
	d.mu.Unlock()
	return nil
}

// lsetstat is the extension that sets the times of a link itself (OpenSSH's PROTOCOL, 4.11).
const lsetstat = "lsetstat@openssh.com"

// Keep implements symlinks.Dir, where the server offers lsetstat. What other users made stays as it is:
// the protocol sets times by their values alone, which only the owner may.
func (d *symlinkDir) Keep(ctx context.Context, link string, others ...string) {
	d.mu.Lock()
	offset := d.beat.offset
	d.mu.Unlock()
	if c, err := d.connected(ctx); err != nil || !c.knows(lsetstat) || offset == 0 {
		return
	}
	now := uint32((offset + d.clock.Now()) / time.Second)
	for i, name := range append([]string{link}, others...) {
		made, err := d.lstat(ctx, name)
		if err != nil || made.is(modeFile) { // which is not ours: it may be somebody's, by a hard link
			continue
		}
		times := attrs{flags: hasTimes, accessed: now, modified: now}
		if i == 0 {
			times.modified = made.modified
		}
		d.keep(ctx, name, times)
	}
}

func (d *symlinkDir) keep(ctx context.Context, name string, a attrs) {
	_ = d.request(ctx, d.op("set the times of", name), typeExtended, func(p packet) packet {
		return p.string(lsetstat).string(d.at(name)).attrs(a)
	})
}

// begin finds out what time a reservation has.
func (d *symlinkDir) begin(ctx context.Context, b *beat, name string) error {
	b.name, b.last = name, 0
	if name == b.made {
		b.last = b.listed
	}
	if b.last == 0 {
		a, err := d.lstat(ctx, name)
		if err != nil {
			return d.asRefusal(d.op("look at", name), err)
		}
		b.last = a.modified
	}
	if b.offset == 0 {
		since := d.clock.Now()
		if path.Base(name) == path.Base(b.made) { // it may have been renamed since
			since = b.madeAt
		}
		b.offset = time.Duration(b.last)*time.Second - since
	}
	return nil
}

// An ignoredError says that a server did not do what it said it did.
type ignoredError struct{ op string }

func (e *ignoredError) Error() string {
	return fmt.Sprintf("%s: the server says that it did, but the time is another", e.op)
}

// Unwrap makes it the system's error of a place without times.
func (e *ignoredError) Unwrap() error { return syscall.EOPNOTSUPP }

// Look implements symlinks.Dir. It counts the reservations, because the protocol does not tell
// the number of links.
func (d *symlinkDir) Look(ctx context.Context, name string) (symlinks.Sight, error) {
	if name == symlinks.Reservations {
		return d.count(ctx)
	}
	look := d.lstatFresh
	if strings.HasPrefix(name, symlinks.Generations+"/") { // a link, which never changes
		look = d.lstat
	}
	a, err := look(ctx, name)
	if err != nil {
		return symlinks.Sight{}, d.asRefusal(d.op("look at", name), err)
	}
	return sight(a), nil
}

func sight(a attrs) symlinks.Sight {
	return symlinks.Sight{Sign: fmt.Sprint(a.modified), Modified: time.Unix(int64(a.modified), 0), User: a.user}
}

func (d *symlinkDir) count(ctx context.Context) (symlinks.Sight, error) {
	all, err := d.list(ctx, symlinks.Reservations)
	if err != nil {
		return symlinks.Sight{}, err
	}
	s := symlinks.Sight{Links: 2}
	for _, i := range all {
		if i.attrs.flags&hasMode == 0 {
			return symlinks.Sight{}, nil
		}
		if i.attrs.is(modeDir) {
			s.Links++
		}
		d.note(path.Join(symlinks.Reservations, i.name), i.attrs)
	}
	return s, nil
}

// note remembers the time of what we made last.
func (d *symlinkDir) note(name string, a attrs) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if name == d.beat.made {
		d.beat.listed = a.modified
	}
}
