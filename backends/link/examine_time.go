//go:build unix

package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locksmith/backends/clock"

	"golang.org/x/sys/unix"
)

const (
	firstPause = 5 * time.Millisecond
	// coarse times are enough for the usual lease, blind ones for none.
	coarse, blind = 500 * time.Millisecond, 3 * time.Second
	noHeartbeats  = "let the file system keep times, and let owners set them"
)

// openFile: a holder keeps its file open, and learns by it that it was removed.
func (x *examiner) openFile(context.Context) error {
	const name = "open files"
	f, file, err := x.createOpen()
	if err != nil {
		return err
	}
	defer file.Close()
	there, err1 := x.fs.Stat(f)
	open, err2 := file.Stat()
	if err := errors.Join(err1, err2); err != nil {
		return x.lock.fail("look at an open file", err)
	}
	if !open.same(there) {
		x.tell.Unfit(name, "an open file has another number than its name", otherPlace)
		return nil
	}
	x.tell.Fit(name, "an open file has the number of its name")
	return nil
}

// heartbeat: a holder sets the time of its file, and others see that.
func (x *examiner) heartbeat(ctx context.Context) error {
	const name = "heartbeat"
	f, file, err := x.createOpen()
	if err != nil {
		return err
	}
	defer file.Close()
	first, err := x.fs.Stat(f)
	if err != nil {
		return x.lock.fail("look at a file", err)
	}
	for waited, step := time.Duration(0), firstPause; waited < blind; step *= 2 {
		if err := clock.Pause(ctx, step); err != nil {
			return err
		}
		waited += step
		if err := file.Touch(); err != nil {
			if fatal := x.said("set the time of a file", err); fatal != nil && !errors.Is(err, unix.ESTALE) {
				return fatal
			}
			x.tell.Unfit(name, "the time of a file of ours cannot be set: "+err.Error(), noHeartbeats)
			return nil
		}
		now, err := x.fs.Stat(f)
		if err != nil {
			return x.lock.fail("look at a file", err)
		}
		if now.Modified.After(first.Modified) {
			x.judgeBeat(name, waited, now.Modified)
			return x.ahead(file, f, now.Modified)
		}
	}
	x.tell.Unfit(name, fmt.Sprintf("the time of a file, set again and again for %v, did not advance: living holders would be taken for dead", blind), noHeartbeats)
	return nil
}

func (x *examiner) judgeBeat(name string, waited time.Duration, server time.Time) {
	off := server.Sub(x.lock.Today()).Round(time.Second)
	text := fmt.Sprintf("the time of a file was seen to advance within %v; the server's clock is %v ahead of ours (behind, if negative), which does not matter here, but may to other tools", waited, off)
	if waited > coarse {
		x.tell.Weak(name, text, "use a --lease of a minute or more")
		return
	}
	x.tell.Fit(name, text)
}

// ahead: with touch=ahead the time is set to one to come.
func (x *examiner) ahead(file File, name string, now time.Time) error {
	if !x.lock.Ahead {
		return nil
	}
	want := now.Add(usualLease)
	err := file.SetTime(want)
	if fatal := x.said("set the time of a file", err); fatal != nil {
		return fatal
	}
	st, err2 := x.fs.Stat(name)
	if err != nil || err2 != nil || st.Modified.Sub(want).Abs() > 2*time.Second {
		x.tell.Unfit("time ahead", "the time of a file cannot be set to one to come", "leave out touch=ahead, or use another place")
		return nil
	}
	x.tell.Fit("time ahead", "the time of a file can be set to one to come")
	return nil
}
