//go:build unix

package child

import (
	"errors"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"locksmith/backends/clock"
	"locksmith/locksmith"
)

// These signals are passed on to the command. Go's runtime would drop some of them: an alarm
// that was set before we were started would ring unheard. At SIGABRT it would end us and print
// all its stacks. Left out is what is about us, or about the terminal that the command shares:
// SIGXFSZ, SIGPIPE, SIGCONT, SIGWINCH, and stops. SIGIO, SIGPROF, SIGPWR and real-time signals
// are seldom meant for a job.
//
// To catch one takes two changes of threads, 0.2 ms together. A process that becomes its command
// leaves no lock behind if a signal ends it. So it catches none; or, if a caller tidies up
// (Caught), those that mostly end a job, and the others when it begins to wait. Beside a command
// all are caught from the beginning: one that ended us with the lock held would leave the lock
// behind, and kill a command that has begun.
var (
	first = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP}
	later = []os.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGVTALRM, syscall.SIGXCPU, syscall.SIGABRT}
)

// signals is how signals reach a command.
type signals struct {
	caught chan os.Signal
	all    func()        // catches those of later
	done   chan struct{} // closed when no more signals are handled
}

// wanted leaves out signals that we were started to ignore, as under nohup.
func wanted(all []os.Signal) []os.Signal {
	return slices.DeleteFunc(slices.Clone(all), signal.Ignored)
}

// handleSignals lets a signal end the wait, and passes signals on to the command. Signals from a
// terminal reach the command without us. Where none can be left to the system, all are caught.
func (c *Command) handleSignals() {
	s := &c.signals
	s.caught, s.done, s.all = make(chan os.Signal, 8), make(chan struct{}), func() {}
	now, rest := wanted(first), wanted(later)
	if c.Becomes && !c.Caught {
		if _, ok := leaveToSystem(slices.Concat(now, rest)); ok {
			now, rest = nil, nil
		}
	}
	restore, ok := leaveToSystem(rest)
	if len(now) > 0 { // without a signal, Notify would catch all
		signal.Notify(s.caught, now...)
	}
	s.all = sync.OnceFunc(func() {
		signal.Notify(s.caught, append(rest, syscall.SIGPIPE)...)
		restore()
	})
	if !ok || !c.Becomes {
		s.all()
	}
	go func() {
		defer close(s.done)
		for got := range s.caught {
			if got != syscall.SIGPIPE { // the error of our write says more
				c.handle(got)
			}
		}
	}()
}

// CatchAll catches the later signals too, unless all are left to the system, and lets a write
// that nobody reads fail. It is called before messages are written.
func (c *Command) CatchAll() { c.signals.all() }

// letSignalsBe handles the signals that have come, and leaves those that come now to the system.
func (c *Command) letSignalsBe() {
	leaveToSystem(slices.Concat(wanted(first), wanted(later)))
	signal.Stop(c.signals.caught)
	c.signals.all = func() {}
	close(c.signals.caught)
	<-c.signals.done
}

func (c *Command) handle(s os.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.got, s) {
		c.got = append(c.got, s)
	}
	select {
	case c.news <- struct{}{}:
	default:
	}
	switch {
	case c.pid == 0:
		c.stop(&locksmith.SignalError{Signal: s})
	case isClosed(c.ended): // its pid may be another's by now
	case fromTerminal(s) && hasTerminal() && inOurGroup(c.pid): // the command has got it too
	default:
		_ = syscall.Kill(c.pid, s.(syscall.Signal))
	}
}

func fromTerminal(s os.Signal) bool { return s == syscall.SIGINT || s == syscall.SIGQUIT }

func hasTerminal() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	_ = tty.Close()
	return true
}

func inOurGroup(pid int) bool {
	group, err := syscall.Getpgid(pid)
	return err == nil && group == syscall.Getpgrp()
}

// handleStops keeps Ctrl-Z from stopping us alone. A command that Ctrl-Z does not stop would go
// on without heartbeats for its lock. If we ignore Ctrl-Z, as after trap in a script, so does the
// command. (SIGTTIN and SIGTTOU still stop us: who catches SIGTTOU cannot write in the
// background.)
func (c *Command) handleStops() {
	if isIgnored(syscall.SIGTSTP) {
		return
	}
	stops := make(chan os.Signal, 1)
	signal.Notify(stops, syscall.SIGTSTP)
	go func() {
		for range stops {
			if c.waitForStopInFork() {
				RaiseDefault(syscall.SIGTSTP)
			}
		}
	}()
}

// waitForStopInFork waits a moment for the one stop that the kernel does not report to us, and
// reports whether it came. Many shells start programs with vfork, and Ctrl-Z may come in the
// middle of that.
func (c *Command) waitForStopInFork() bool {
	c.mu.Lock()
	pid := c.pid
	c.mu.Unlock()
	for range 10 {
		if isStoppedInFork(pid) {
			return true
		}
		clock.Sleep(c.ctx, c.Clock, 20*time.Millisecond)
	}
	return false
}

// stopWith stops us when SIGTSTP, of Ctrl-Z or of the command itself, has stopped the command. So
// the shell sees the stop, and we go on when it continues both. After another signal we go on at
// once.
func (c *Command) stopWith(s syscall.Signal) {
	if s == syscall.SIGTSTP && inOurGroup(c.pid) {
		RaiseDefault(s)
	}
}

// EndedBy returns the signal that we should end by, or 0. It is the signal that ended the wait,
// or one that ended the command and came to us too. The sender should see that we obeyed: only
// then bash ends a loop on Ctrl-C, and mends the terminal's modes.
func (c *Command) EndedBy(err error) syscall.Signal {
	var waiting *locksmith.SignalError
	switch {
	case errors.As(err, &waiting):
		if s := waiting.Signal.(syscall.Signal); asksToEnd(s) {
			return s
		}
	case err == nil:
		<-c.ended
		if s := c.status.Signal(); c.status.Signaled() && asksToEnd(s) && c.hasGot(s) {
			return s
		}
	}
	return 0
}

func asksToEnd(s syscall.Signal) bool {
	return s == syscall.SIGINT || s == syscall.SIGTERM || s == syscall.SIGHUP || s == syscall.SIGALRM
}

// signalDelay is for how long a signal to us may still be on its way through Go's runtime when
// the command has already died of it.
const signalDelay = 200 * time.Millisecond

// hasGot reports whether a signal came to us, too.
func (c *Command) hasGot(s os.Signal) bool {
	timer := c.Clock.NewTimer(signalDelay)
	defer timer.Stop()
	for {
		c.mu.Lock()
		got := slices.Contains(c.got, s)
		c.mu.Unlock()
		if got {
			return true
		}
		select {
		case <-c.news:
		case <-timer.C():
			return false
		}
	}
}
