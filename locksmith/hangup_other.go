//go:build !linux

package locksmith

import (
	"context"
	"os"
)

// Hangup returns when the other end of a pipe or socket is gone: of an input, when nobody
// can write to it any more; of an output, when nobody reads. It never reads or writes a byte,
// and does not change the mode of the descriptor, which others may share. On these systems nothing
// wakes it: macOS reports a hang-up only to those who poll for something, and Windows to nobody.
func Hangup(ctx context.Context, f *os.File, input bool) error {
	return lookForHangup(ctx, f, input)
}
