//go:build linux

package storages

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"locksmith/test/guest"
)

// onlookers list the directories of all locks, on one host, as a curious user or a backup does,
// until stop is called.
func onlookers(all []*contest) (stop func()) {
	over := make(chan struct{})
	var looking sync.WaitGroup
	for _, c := range all {
		looking.Go(func() { c.lookOn(over) })
	}
	return func() {
		close(over)
		looking.Wait()
	}
}

func (c *contest) lookOn(over <-chan struct{}) {
	dir := guest.Path(c.contenders[1].host, c.dir)
	for {
		select {
		case <-over:
			return
		case <-time.After(rand.N(500 * time.Millisecond)):
		}
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				list(path)
			}
			return nil // it may have gone meanwhile
		})
	}
}

// list reads a directory, and keeps it open for a moment longer.
func list(path string) {
	dir, err := os.Open(path)
	if err != nil {
		return
	}
	defer dir.Close()
	_, _ = dir.Readdirnames(-1)
	time.Sleep(rand.N(20 * time.Millisecond))
}
