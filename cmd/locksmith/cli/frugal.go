package cli

import (
	"os"
	"runtime"
	"runtime/debug"
)

// frugal keeps a program small and quick that mostly waits, for days perhaps. With one
// processor what its goroutines tell each other wakes no other thread, and a call that
// hangs keeps only its own thread, as ever. (Our own program has given up the others
// before, in package frugal; one that is its own helper does it here.) Garbage is
// collected from 1 MiB on, not only from 4 MiB; what a helper needs to start is less.
func frugal() {
	runtime.GOMAXPROCS(1)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(25)
	}
}
