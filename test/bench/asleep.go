package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// asleep waits until processes sleep, as those do that wait for a lock and not for a
// processor to start on: nearly all, in three looks one after the other. Those that ask
// all the time may never seem to, so that it does not wait for long.
func (b *bench) asleep(ctx context.Context, waiting []*holder) error {
	end := time.Now().Add(limit / 4)
	for looks := 0; looks < 3 && time.Now().Before(end); looks++ {
		if err := sleep(ctx, b.queue/3); err != nil {
			return err
		}
		awake := 0
		for _, w := range waiting {
			if isAwake(w.pid()) {
				awake++
			}
		}
		if awake*20 > len(waiting) {
			looks = -1
		}
	}
	return nil
}

// isAwake is whether one of a process's threads runs, or would if it could.
func isAwake(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, thread := range threads {
		stat, _ := os.ReadFile(thread)
		// After the name, which may have anything in it.
		if state := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]); len(state) > 0 && string(state[0]) != "S" {
			return true
		}
	}
	return false
}
