package locksmith

import (
	"runtime"
	"runtime/pprof"
	"sync"
	"testing"
)

// TestMakeThreads: later work that needs threads makes no more of them.
func TestMakeThreads(t *testing.T) {
	const n = 12
	made := pprof.Lookup("threadcreate")
	makeThreads(n + runtime.GOMAXPROCS(0))
	before := made.Count()
	if before < n {
		t.Errorf("there are %d threads", before)
	}
	var there, ended sync.WaitGroup
	there.Add(n)
	for range n {
		ended.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			there.Done()
			there.Wait()
		})
	}
	ended.Wait()
	if more := made.Count() - before; more > 1 { // one may have been busy
		t.Errorf("%d more were made", more)
	}
}
