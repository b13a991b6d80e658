package locksmith

import (
	"runtime"
	"sync"

	"locksmith/backends/backend"
)

// fewThreads is how many threads a helper may keep busy at a time: the wait for its command, a
// sleep in the kernel's queue or the wait for an ssh, a heartbeat and a housekeeping that hang, and
// whatever runs.
const fewThreads = 5

// threads is how many threads this helper may keep busy at a time. Of several locks, each that is
// asked may keep another one busy.
func (h *Helper) threads() int { return fewThreads + min(len(h.Locks), backend.Parallel) }

// makeThreads makes sure that this process has n threads, beside those that the runtime and the
// handling of signals keep. The runtime makes a thread when it needs one, and keeps it. But it
// ends the program if it needs one and may have no more (ulimit -u), and then the lock would
// stay. So a helper makes its threads before it takes a lock.
func makeThreads(n int) {
	var there, ended sync.WaitGroup
	there.Add(n)
	for range n {
		ended.Go(func() {
			runtime.LockOSThread() // so that the next goroutine needs another thread
			defer runtime.UnlockOSThread()
			there.Done()
			there.Wait()
		})
	}
	ended.Wait()
}
