//go:build unix

package locksmith

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"locksmith/backends/process"
)

// disregard ignores signals. Catching each of them instead would cost Go two changes of threads.
func disregard(signals ...os.Signal) { signal.Ignore(signals...) }

func meaningless() []os.Signal { return []os.Signal{syscall.SIGPIPE, syscall.SIGUSR1} }
func terminalSignals() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT}
}
func endSignals() []os.Signal {
	return []os.Signal{syscall.SIGTERM, syscall.SIGXCPU, syscall.SIGALRM}
}

// deathHint returns a channel that gets the kernel's hints that our parent may be gone.
func (w Watch) deathHint() <-chan os.Signal {
	hint := make(chan os.Signal, 1)
	signal.Notify(hint, deathSignal)
	if err := askForDeathSignal(deathSignal); err != nil {
		w.Log.Debug("no signal at the parent's death", "error", err)
	}
	return hint
}

// deathSignal is a hint, never a reason: it also comes when only the parent's thread that forked
// us ends (golang/go#27505).
const deathSignal = syscall.SIGUSR2

// orphaned reports that p, which was our parent, is not our parent any more.
func orphaned(p process.Process) bool { return os.Getppid() != p.PID }

// hungUp reports whether the other end of a pipe or socket is gone by now.
func hungUp(f *os.File, input bool) (bool, error) {
	events, gone := pollFor(f, input)
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: events}}
	for {
		_, err := unix.Poll(fds, 0)
		switch {
		case err == nil:
			return fds[0].Revents&gone != 0, nil
		case !errors.Is(err, unix.EINTR):
			return false, os.NewSyscallError("poll", err)
		}
	}
}

// errNoReader is the error of a write to a pipe.
const errNoReader = syscall.EPIPE

// readable reports whether a read would return at once: with bytes, or the end.
func readable(f *os.File) (bool, error) {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, 0)
		if !errors.Is(err, unix.EINTR) {
			return n > 0, os.NewSyscallError("poll", err)
		}
	}
}
