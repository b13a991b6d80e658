//go:build !linux

package locksmith

import (
	"context"
	"os"
)

// Hangup returns when the other end of a pipe or socket is gone: an end for reading, when nobody
// can write to it any more; an end for writing, when nobody reads. It never reads or writes a byte,
// and does not change the mode of the descriptor, which others may share. On these systems nothing
// wakes it: macOS reports a hang-up only to those who poll for something, and Windows to nobody.
func Hangup(ctx context.Context, f *os.File) error { return lookForHangup(ctx, f) }
