package dirs

import (
	"context"
	"errors"
	"slices"
	"time"
)

// ListWithNow lists a directory, and returns what time it is there by the server's clock, and who we
// are there. For that it makes a directory in it, the probe, and removes it again.
func ListWithNow(ctx context.Context, dir StatDir, in, probe string, fail func(op string, err error) error) (entries []Entry, now Entry, err error) {
	if err := dir.Mkdir(ctx, in+"/"+probe); err != nil {
		if Unclear(err) {
			_ = removeProbe(ctx, dir, in+"/"+probe)
		}
		return nil, now, fail("make a directory to see the server's time", err)
	}
	entries, err = dir.Entries(ctx, in)
	if err = errors.Join(err, removeProbe(ctx, dir, in+"/"+probe)); err != nil {
		return nil, now, fail("list the directory", err)
	}
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.Name == probe })
	if i < 0 || entries[i].Modified.IsZero() {
		return nil, now, fail("find out the server's time", errors.New("its listing does not tell"))
	}
	now = entries[i]
	return slices.Delete(entries, i, i+1), now, nil
}

// GraceTime is how long something may take that must be finished or removed though ctx has ended.
const GraceTime = 10 * time.Second

func removeProbe(ctx context.Context, dir Dir, probe string) error {
	ctx, cancel := Outlast(ctx, GraceTime)
	defer cancel()
	return dir.Rmdir(ctx, probe)
}

// Age is how long ago an entry changed, at least. Times to the minute come from a
// listing in the server's local zone, whose clock may have skipped an hour meanwhile.
func Age(e Entry, now time.Time) time.Duration {
	if e.Modified.IsZero() {
		return 0
	}
	d := now.Sub(e.Modified)
	if !e.Precise {
		d -= time.Minute
		if maySkip(e.Modified, now) {
			d -= time.Hour
		}
	}
	return max(d, 0)
}

// FarthestWest is how far local time is behind UTC at most.
const FarthestWest = 12 * time.Hour

// AgeHere is Age by this machine's clock, for people, where the server's now is not known. Times to the
// second are in UTC, as RFC 3659 (2.3) and file systems have them. The zone of others nobody tells.
func AgeHere(e Entry, today time.Time) time.Duration {
	if !e.Precise {
		today = today.Add(-FarthestWest)
	}
	return Age(e, today)
}

// maySkip reports that summer time may have begun between two local times. Then an hour is
// missing between them, so they are at least an hour apart; and wherever there is summer time it
// begins at night.
func maySkip(from, to time.Time) bool {
	const dawn, dusk = 4, 22
	sameDay := from.Truncate(24 * time.Hour).Equal(to.Truncate(24 * time.Hour))
	return to.Sub(from) >= time.Hour && !(sameDay && from.Hour() >= dawn && to.Hour() < dusk)
}
