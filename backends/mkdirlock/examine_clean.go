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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	cause := x.clear(ctx, x.at, maxDepth)
	if cause == nil {
		return
	}
	there, err := x.lock.contains(ctx, x.a, x.base, path.Base(x.at))
	switch {
	case err != nil:
		x.tell.Weak("clean up", x.shown(x.at)+" may still be there: "+backend.Reason(cause), "look for it, and remove it with what is in it")
	case there:
		x.tell.Weak("clean up", x.shown(x.at)+" stays: "+backend.Reason(cause), "remove it, with what is in it")
	}
}

// clear removes a directory with what is in it. The names are nobody else's, so
// that nothing but what was there before can be hit, however late. It does not rely
// on a removal that is said to have happened: that is what the checks find out.
func (x *examiner) clear(ctx context.Context, name string, depth int) (err error) {
	for range 2 { // the first listing may have missed something
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
