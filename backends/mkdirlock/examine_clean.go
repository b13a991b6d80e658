package mkdirlock

import (
	"context"
	"path"

	"locksmith/backends/backend"
)

// maxDepth is deeper than anything that the checks make.
const maxDepth = 8

// leave removes the directory of the checks, with what is in it, also when ctx has
// ended, and says so if that cannot be done.
func (x *examiner) leave(ctx context.Context) {
	ctx, cancel := outlast(ctx, graceTime)
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, cleanTime)
	defer stop()
	cause := within(ctx, func() error { return x.clear(ctx, x.at, maxDepth) })
	switch {
	case cause == nil:
		return
	case ctx.Err() != nil:
		x.mayStay("there was no time left to remove it")
		return
	}
	there := false
	err := within(ctx, func() (err error) {
		there, err = x.lock.contains(ctx, x.a, x.base, path.Base(x.at))
		return err
	})
	switch {
	case err != nil:
		x.mayStay(backend.Reason(cause))
	case there:
		x.tell.Weak("clean up", x.shown(x.at)+" stays: "+backend.Reason(cause), "remove it, with what is in it")
	}
}

func (x *examiner) mayStay(why string) {
	x.tell.Weak("clean up", x.shown(x.at)+" may still be there: "+why, "look for it, and remove it with what is in it")
}

// within returns what f does, or ctx's error if that ends before: not all calls
// look at it, and one that hangs is left behind.
func within(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// clear removes a directory with what is in it. The names are nobody else's, so
// that nothing but what was there before can be hit, however late. It does not rely
// on a removal that is said to have happened: that is what the checks find out.
func (x *examiner) clear(ctx context.Context, name string, depth int) (err error) {
	for range 2 { // the first listing may have missed something
		if ctx.Err() != nil {
			return ctx.Err() // not all calls look
		}
		var inside []string
		if depth > 0 {
			inside, _ = x.a.List(ctx, name) // what it misses keeps the removal from working
		}
		for _, n := range inside {
			_ = x.clear(ctx, name+"/"+n, depth-1) // the same
		}
		if err = x.a.Rmdir(ctx, name); err == nil {
			return nil
		}
	}
	return err
}
