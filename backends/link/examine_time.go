//go:build unix

package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/doctor"
	"locksmith/backends/lockfile"
)

// openFile checks that a holder, which keeps its file open, learns by that file that it was
// removed.
func (x *examiner) openFile(ctx context.Context) error {
	const name = "open files"
	f, file, err := x.createOpen(ctx)
	if err != nil {
		return err
	}
	defer file.Close()
	there, err1 := x.fs.Stat(f)
	open, err2 := file.StatServer()
	if err := errors.Join(err1, err2); err != nil {
		return x.Fail("look at an open file", err)
	}
	if !open.Same(there) {
		x.Tell.Unfit(name, "an open file has another number than its name", otherPlace)
		return nil
	}
	x.Tell.Fit(name, "an open file has the number of its name")
	return nil
}

// heartbeat checks that a holder can set the time of its file, and that others see it.
func (x *examiner) heartbeat(ctx context.Context) error {
	f, file, err := x.createOpen(ctx)
	if err != nil {
		return err
	}
	defer file.Close()
	first, err := x.fs.Stat(f)
	if err != nil {
		return x.Fail("look at a file", err)
	}
	var now lockfile.Stat
	paused, seen, err := x.Heartbeat(ctx, doctor.Heartbeat{
		Touch: func() error {
			err := file.Touch()
			if errors.Is(err, unix.ESTALE) {
				return errors.New(err.Error()) // that is an answer: it is gone
			}
			return err
		},
		Moved: func() (_ bool, err error) {
			now, err = x.fs.Stat(f)
			return now.Modified.After(first.Modified), err
		},
		Still: func(watched time.Duration) string {
			return fmt.Sprintf("the time of a file, set again and again for %v, did not advance: living holders would be taken for dead", watched)
		},
		Advice: noHeartbeats,
	})
	if err != nil || !seen {
		return err
	}
	x.judgeBeat("heartbeat", paused, now.Modified)
	return x.ahead(file, f, now.Modified)
}

func (x *examiner) judgeBeat(name string, paused time.Duration, server time.Time) {
	off := server.Sub(x.lock.Today()).Round(time.Second)
	text := fmt.Sprintf("the time of a file was seen to advance after a wait of %v; the server's clock is %v ahead of ours (behind, if negative), which does not matter here, but may to other tools", paused, off)
	if paused > doctor.Coarse {
		x.Tell.Weak(name, text, "use a --lease of a minute or more")
		return
	}
	x.Tell.Fit(name, text)
}

// ahead checks that the time can be set to one to come, for touch=ahead.
func (x *examiner) ahead(file File, name string, now time.Time) error {
	if !x.lock.Ahead {
		return nil
	}
	want := now.Add(UsualLease)
	set, fatal := x.Said("set the time of a file", file.SetTime(want))
	if fatal != nil {
		return fatal
	}
	st, err := x.fs.Stat(name)
	if !set || err != nil || st.Modified.Sub(want).Abs() > 2*time.Second {
		x.Tell.Unfit("time ahead", "the time of a file cannot be set to one to come", "leave out touch=ahead, or use another place")
		return nil
	}
	x.Tell.Fit("time ahead", "the time of a file can be set to one to come")
	return nil
}
