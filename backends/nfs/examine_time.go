//go:build unix

package nfs

import (
	"context"
	"fmt"
	"slices"
	"time"

	"locksmith/backends/clock"
)

const (
	firstPause = 5 * time.Millisecond
	// coarse times make short leases unsafe, blind ones all of them.
	coarse, blind = 500 * time.Millisecond, 3 * time.Second
)

// heartbeats: a holder sets the time of its directory, and others see that.
func (x *examiner) heartbeats(ctx context.Context) error {
	const name = "heartbeat"
	d, err := x.make()
	if err != nil {
		return err
	}
	first, err := x.dir.Look(d)
	if err != nil {
		return x.fail("look at a directory", err)
	}
	waited := time.Duration(0)
	for step := firstPause; waited < blind; step *= 2 {
		if err := clock.Pause(ctx, step); err != nil {
			return err
		}
		waited += step
		touched := x.dir.Touch(d)
		if _, err := x.said("set the time of a directory", touched); err != nil {
			return err
		} else if touched != nil {
			x.tell.Unfit(name, "the time of a directory of ours cannot be set: "+touched.Error(), "let the file system keep times, and let owners set them")
			return nil
		}
		sight, err := x.dir.Look(d)
		if err != nil {
			return x.fail("look at a directory", err)
		}
		if sight.Sign != first.Sign {
			x.judgeBeat(name, waited)
			return nil
		}
	}
	x.tell.Unfit(name, fmt.Sprintf("the time of a directory, set again and again for %v, did not change: living holders would be taken for dead", waited), otherPlace)
	return nil
}

func (x *examiner) judgeBeat(name string, waited time.Duration) {
	if waited > coarse {
		x.tell.Weak(name, fmt.Sprintf("times of directories are coarse: one was seen to change after %v", waited), "use a --lease of 10s or more")
		return
	}
	x.tell.Fit(name, fmt.Sprintf("the server set the time of a directory, and it was seen to change within %v", waited))
}

// clock is for people only.
func (x *examiner) clock(context.Context) error {
	d, err := x.make()
	if err != nil {
		return err
	}
	here := time.Now()
	if err := x.dir.Touch(d); err != nil {
		return nil // told already
	}
	sight, err := x.dir.Look(d)
	if err != nil {
		return x.fail("look at a directory", err)
	}
	off := sight.Modified.Sub(here)
	text := "the server's is like ours, to the second"
	if off.Abs() > time.Second {
		text = fmt.Sprintf("the server's is %v ahead of ours (behind, if negative)", off.Round(time.Second))
	}
	x.tell.Fit("clock", text+"; leases do not depend on it")
	return nil
}

// listing: the highest number in a listing says who has the lock. As everywhere,
// what another changed is looked for after a change of our own.
func (x *examiner) listing(context.Context) error {
	const name = "listing"
	d, err := x.make()
	if err != nil {
		return err
	}
	own := d[len(x.at)+1:]
	wrong := 0
	for _, there := range []bool{true, false} {
		names, err := x.dir.List(x.at)
		if err != nil {
			return x.fail("list a directory", err)
		}
		if slices.Contains(names, own) != there {
			wrong++
		}
		if there {
			if err := x.dir.Rmdir(d); err != nil {
				return x.fail("remove a directory", err)
			}
		}
	}
	if wrong > 0 {
		x.tell.Unfit(name, "a name that we made was not listed, or one that we removed was", otherPlace)
		return nil
	}
	x.tell.Fit(name, "names that we make come at once, and go at once")
	return nil
}
