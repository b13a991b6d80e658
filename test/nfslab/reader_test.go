//go:build linux

package nfslab

import (
	"context"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// poke is a program that reads in a directory for a while, as a curious user or
// a backup does, and keeps open what it can.
func poke(args []string) error {
	f := flag.NewFlagSet("poke", flag.ContinueOnError)
	dir, span := f.String("dir", "", ""), f.Duration("for", 0, "")
	if err := f.Parse(args); err != nil {
		return err
	}
	var open []int
	for end := now() + *span; now() < end; {
		_ = filepath.WalkDir(*dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // it went away meanwhile
			}
			_, _ = os.Lstat(path)
			_, _ = os.Readlink(path)
			for _, flags := range []int{unix.O_RDONLY | unix.O_NONBLOCK, unix.O_PATH | unix.O_NOFOLLOW} {
				if fd, err := unix.Open(path, flags, 0); err == nil {
					open = append(open, fd)
				}
			}
			return nil
		})
		for len(open) > 200 {
			_ = unix.Close(open[0])
			open = open[1:]
		}
	}
	return nil
}

// reader: readers on every host, with all directories of the lock open, keep
// nobody from releasing it, and leave no .nfs files.
func reader(t *testing.T) {
	const span = 4 * time.Second
	lock := place(t)
	first := hold(t, 1, lock)
	first.held()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	var readers sync.WaitGroup
	for k := 1; k <= hosts; k++ {
		readers.Go(func() {
			out, err := onHost(ctx, k, "nfslab.test", "poke", "-dir", lock, "-for", span.String()).CombinedOutput()
			if err != nil {
				t.Errorf("the reader on host %d: %v\n%s", k, err, out)
			}
		})
		readers.Go(func() {
			_ = onHost(ctx, k, "timeout", "4", "sh", "-c",
				`cd "$0" && exec 3<. 4<G 5<R && while :; do ls -lR .; find . -ls; done >/dev/null 2>&1`, lock).Run()
		})
	}
	time.Sleep(time.Second)
	first.release()
	slowest := time.Duration(0)
	for i := range 4 {
		h := hold(t, i%hosts+1, lock)
		h.held()
		at := now()
		slowest = max(slowest, h.release().at-at)
	}
	readers.Wait()
	t.Logf("the slowest of 4 releases took %v", slowest.Round(time.Millisecond))
	noNFSFiles(t, lock)
	last := hold(t, 1, lock)
	last.held()
	last.release()
	atRest(t, lock)
}
