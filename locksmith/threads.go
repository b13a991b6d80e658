package locksmith

import (
	"runtime"
	"sync"
)

const (
	// fewThreads are those that a helper may keep busy at a time: in the wait for its command,
	// a sleep in the kernel's queue or the wait for an ssh, a heartbeat and a housekeeping that
	// hang, and whatever runs.
	fewThreads = 5
	// manyCalls is how many calls at most a set makes at a time.
	manyCalls = 16
)

// threads is how many this helper may keep busy at a time.
func (h *Helper) threads() int { return fewThreads + min(len(h.Locks), manyCalls) }

// makeThreads makes sure that this process has so many threads, beside those that the runtime
// and the handling of signals keep. The runtime makes one when it needs it, keeps it, and ends
// the program where it may have no more (ulimit -u): the lock of a helper would stay. So a
// helper has them before it takes one.
func makeThreads(n int) {
	var there, ended sync.WaitGroup
	there.Add(n)
	for range n {
		ended.Go(func() {
			runtime.LockOSThread() // so that the next one needs another
			defer runtime.UnlockOSThread()
			there.Done()
			there.Wait()
		})
	}
	ended.Wait()
}
