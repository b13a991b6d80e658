package locksmith

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/windows"

	"locksmith/backends/process"
)

// disregard catches signals to do nothing: an ignored one would end us here.
func disregard(signals ...os.Signal) { signal.Notify(make(chan os.Signal, 1), signals...) }

func meaningless() []os.Signal     { return []os.Signal{syscall.SIGPIPE} } // none would be all
func terminalSignals() []os.Signal { return []os.Signal{os.Interrupt} }
func endSignals() []os.Signal      { return []os.Signal{syscall.SIGTERM} } // log off, shut down

// deathHint is a channel that nothing comes from.
func (w Watch) deathHint() <-chan os.Signal { return nil }

// orphaned reports that our parent had ended before we looked, and its pid is now
// another's: no child learns of that otherwise.
func orphaned(p process.Process) bool { return process.StartedAfter(p) }

// nobodyReads is the error of a write to a pipe.
const nobodyReads = windows.ERROR_NO_DATA
