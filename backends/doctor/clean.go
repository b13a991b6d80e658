package doctor

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/detached"
)

const (
	// cleanTime bounds the removal of what the checks made. After ctx has ended, graceTime does.
	cleanTime, graceTime = time.Minute, 10 * time.Second
	// maxDepth is deeper than anything that the checks make.
	maxDepth = 8
)

// Clean removes the directory of the checks, with its contents, even if ctx has ended. If it
// cannot, it says so. shown is where the directory is, for people.
func (x *Examiner) Clean(ctx context.Context, dir, shown string) {
	const name = "clean up"
	mayStay := func(why string) {
		x.Tell.Weak(name, shown+" may still be there: "+why, "look for it, and remove it with what is in it")
	}
	on, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	type remains struct {
		cause, err error // why it could not be removed; whether anything is there
		there      bool
	}
	clear := detached.Go(func() (r remains, _ error) {
		if r.cause = Clear(on, x.Place, dir); r.cause != nil && on.Err() == nil {
			r.there, r.err = x.Contains(on, path.Dir(dir), path.Base(dir))
		}
		return r, nil
	})
	if !clear.Await(ctx, clock.Runtime{}, cleanTime, graceTime) {
		mayStay("there was no time left to remove it")
		return
	}
	switch left, _ := clear.Result(); {
	case left.err != nil:
		mayStay(backend.Reason(left.cause))
	case left.there, errors.Is(left.cause, fs.ErrExist): // "directory not empty" is among those
		x.Tell.Weak(name, shown+" stays: "+backend.Reason(left.cause), "remove it, with what is in it")
	}
}

// Clear removes a directory that an examination made, with its contents. Nobody else uses these names,
// so a removal that comes late can hit nothing else. A call that says it removed something is not
// believed: the checks are there to find out whether calls tell the truth.
func Clear(ctx context.Context, in Place, name string) error {
	return clearBelow(ctx, in, name, maxDepth)
}

func clearBelow(ctx context.Context, in Place, name string, depth int) (err error) {
	for range 3 { // a listing may miss something, as on NFS what was just made
		if ctx.Err() != nil {
			return ctx.Err() // not all calls look
		}
		var inside []string
		if depth > 0 {
			inside, _ = in.List(ctx, name) // what List misses makes the removal fail
		}
		for _, n := range inside {
			_ = clearBelow(ctx, in, name+"/"+n, depth-1) // the same
		}
		if err = in.Remove(ctx, name); err == nil {
			return nil
		}
	}
	return err
}
