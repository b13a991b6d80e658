package doctor

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
)

const (
	// cleanTime bounds the removal of what the checks made; after ctx has ended,
	// graceTime does.
	cleanTime, graceTime = time.Minute, 10 * time.Second
	// maxDepth is deeper than anything that the checks make.
	maxDepth = 8
)

// Clean removes the directory of the checks, with what is in it, also when ctx has
// ended, and says so if that cannot be done. Shown is where that is, for people.
func (x *Examiner) Clean(ctx context.Context, dir, shown string) {
	const name = "clean up"
	mayStay := func(why string) {
		x.Tell.Weak(name, shown+" may still be there: "+why, "look for it, and remove it with what is in it")
	}
	on, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	type remains struct {
		cause, err error // why it could not be removed, and whether there is something
		there      bool
	}
	clear := backend.Detach(func() (r remains, _ error) {
		if r.cause = x.clear(on, dir, maxDepth); r.cause != nil && on.Err() == nil {
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

// clear removes a directory with what is in it. Nobody else uses these names, so a removal
// that comes late can hit nothing else. It does not believe that a removal happened because
// the call said so: whether calls tell the truth is what the checks find out.
func (x *Examiner) clear(ctx context.Context, name string, depth int) (err error) {
	for range 3 { // a listing may have missed something, as on NFS what was just made
		if ctx.Err() != nil {
			return ctx.Err() // not all calls look
		}
		var inside []string
		if depth > 0 {
			inside, _ = x.Place.List(ctx, name) // what it misses keeps the removal from working
		}
		for _, n := range inside {
			_ = x.clear(ctx, name+"/"+n, depth-1) // the same
		}
		if err = x.Place.Remove(ctx, name); err == nil {
			return nil
		}
	}
	return err
}
