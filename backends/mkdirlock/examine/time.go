package examine

import (
	"context"
	"fmt"
	"time"

	"locksmith/backends/clock"
	"locksmith/backends/mkdirlock/dirs"
)

// tick is longer than the finest step of times in listings.
const tick = 1100 * time.Millisecond

// times: reap goes by the times of directories, and by nothing else.
func (x *examiner) times(ctx context.Context) error {
	const name = "times"
	dir, ok := x.a.(dirs.StatDir)
	if !ok {
		x.Tell.Unknown(name, "times of directories are not told here", "do not count on locksmith reap")
		return nil
	}
	d, err := x.New(ctx, "old")
	if err != nil {
		return err
	}
	if err := clock.Pause(ctx, tick); err != nil {
		return err
	}
	if err := x.Make(ctx, d+"/new"); err != nil {
		return err
	}
	today := x.place.Today()
	entries, err := dir.Entries(ctx, d)
	if err != nil {
		return x.Fail("list a directory with times", err)
	}
	x.judgeTimes(name, entries, today)
	return nil
}

func (x *examiner) judgeTimes(name string, entries []dirs.Entry, today time.Time) {
	at := map[string]dirs.Entry{}
	for _, e := range entries {
		at[e.Name] = e
	}
	older, newer := at["old"], at["new"]
	apart := newer.Modified.Sub(older.Modified)
	switch {
	case older.Modified.IsZero() || newer.Modified.IsZero():
		x.Tell.Weak(name, "listings do not tell times of directories", "locksmith reap cannot work here: see to empty locks by hand")
		return
	case apart < 0 || newer.Precise && apart == 0:
		x.Tell.Weak(name, fmt.Sprintf("a directory made %v after another one is %v older", tick, -apart),
			"look at the server's clock: locksmith reap would take the young for old")
		return
	case !newer.Precise:
		x.Tell.Weak(name, "listings tell the minute, not the second", "locksmith reap is late by a minute, and at night by an hour and a minute, as their clock may have skipped one; MLSD would tell more")
	default:
		x.Tell.Fit(name, "listings tell times of directories to the second, and they move forward")
	}
	x.Tell.Fit("clock", offset(newer.Modified.Sub(today), newer.Precise)+"; leases do not depend on it")
}

// zoneStep is the step by which time zones differ.
const zoneStep = 15 * time.Minute

// offset describes how far a server's clock is from ours, in a time zone that the
// server did not tell.
func offset(d time.Duration, precise bool) string {
	unit, about := time.Second, ""
	if !precise {
		unit, about = time.Minute, "about "
	}
	zone := d.Round(zoneStep)
	rest := (d - zone).Round(unit)
	text := "the server's is " + about
	switch {
	case rest.Abs() <= unit: // it tells whole ones
		text = "the server's is like ours, to the " + map[bool]string{true: "second", false: "minute"}[precise]
	case rest > 0:
		text += rest.String() + " ahead of ours"
	default:
		text += (-rest).String() + " behind ours"
	}
	if zone != 0 {
		text += fmt.Sprintf(", in a zone %+g hours from UTC, or off by so much", zone.Hours())
	}
	return text
}
