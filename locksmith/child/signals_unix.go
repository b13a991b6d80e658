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

// These signals are passed on to the command. If we did not catch them, Go's runtime would drop
// some: SIGALRM, of an alarm that was set before we were started, would do nothing. At SIGABRT the
// runtime would end us and print all its stacks. Signals that are about us, or about the terminal
// that the command shares, are left out: SIGXFSZ, SIGPIPE, SIGCONT, SIGWINCH, and stops. SIGIO,
// SIGPROF, SIGPWR and real-time signals are left out because they are seldom meant for a job.
//
// To begin to catch a signal takes two changes of threads. Signals that mostly end a job (first) are
// caught from the beginning. The others (later), which seldom come, are caught when a wait begins, a
// millisecond after the command has begun, or if the lock's place takes long to answer: most runs
// of short commands end without. What becomes of those signals before that depends on what they would
// do:
//
//	run stays beside its command   they are dropped: a signal that ended it with the lock held would
//	                               leave the lock behind, and kill a command that has begun
//	run becomes its command        they are left to the system (leaveToSystem): no lock stays behind.
//	                               So are those of first, unless the caller tidies up (Caught)
var (
	first = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGABRT}
	later = []os.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGVTALRM, syscall.SIGXCPU}
)

// Those of later are caught so long after the beginning, or after that of the command.
const untilAll, ofCommand = 20 * time.Millisecond, time.Millisecond

// signals is how signals reach a command.
type signals struct {
	caught chan os.Signal
	all    func()        // catches the signals of later as well
	soon   *time.Timer   // calls all; nil: only CatchAll does
	done   chan struct{} // closed when no more signals are handled
}

// notIgnored leaves out signals that we were started to ignore, as under nohup.
func notIgnored(all []os.Signal) []os.Signal {
	return slices.DeleteFunc(slices.Clone(all), signal.Ignored)
}

// handleSignals lets a signal end the wait, and passes signals on to the command. It does not pass
// on what the command gets from a terminal without us (handle). On systems where no signal can be
// left to the system (leaveToSystem), all are caught.
func (c *Command) handleSignals() {
	s := &c.signals
	s.caught, s.done, s.all = make(chan os.Signal, 8), make(chan struct{}), func() {}
	now, rest := notIgnored(first), notIgnored(later)
	restore := func() {}
	if c.Becomes {
		now, rest, restore = c.leaveMost(now, rest)
	} else {
		now = append(now, syscall.SIGPIPE) // what is written before the wait ends must not end us
	}
	if len(now) > 0 { // with no signal named, Notify would catch all
		signal.Notify(s.caught, now...)
	}
	s.all = sync.OnceFunc(func() {
		signal.Notify(s.caught, append(rest, syscall.SIGPIPE)...)
		restore()
	})
	if !c.Becomes {
		s.soon = time.AfterFunc(untilAll, s.all)
	}
	go func() {
		defer close(s.done)
		for got := range s.caught {
			if got != syscall.SIGPIPE { // the write that failed returns an error, which says more
				c.handle(got)
			}
		}
	}()
}

// leaveMost leaves to the system what a process that becomes its command need not catch. It returns
// what to catch now and later. Where nothing can be left to the system, all is caught now.
func (c *Command) leaveMost(now, rest []os.Signal) (first, later []os.Signal, restore func()) {
	if !c.Caught {
		if _, ok := leaveToSystem(slices.Concat(now, rest)); ok {
			return nil, nil, func() {}
		}
	}
	restore, ok := leaveToSystem(rest)
	if !ok {
		return slices.Concat(now, rest, []os.Signal{syscall.SIGPIPE}), nil, restore
	}
	return now, rest, restore
}

// CatchAll catches the signals of later, too. It does not if those of first are left to the system
// (handleSignals). It also catches SIGPIPE, so that a write that nobody reads fails and does not end
// us. CatchAll is called before messages are written.
func (c *Command) CatchAll() { c.signals.all() }

// catchSoon is called when the command has begun.
func (c *Command) catchSoon() { c.signals.soon.Reset(ofCommand) }

// letSignalsBe handles the signals that have come, and leaves those that come now to the system.
func (c *Command) letSignalsBe() {
	leaveToSystem(slices.Concat(notIgnored(first), notIgnored(later)))
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
	case c.Alone, isClosed(c.ended): // its pid may be another's by now
	case isOfTerminals(s) && hasTerminal() && inOurGroup(c.pid):
		// If the terminal sent it, the command has got it, too. If somebody sent it to us alone,
		// it has no effect.
	default:
		_ = syscall.Kill(c.pid, s.(syscall.Signal))
	}
}

// isOfTerminals reports whether a terminal sends this signal. Others may send it as well.
func isOfTerminals(s os.Signal) bool { return s == syscall.SIGINT || s == syscall.SIGQUIT }

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
// command. (SIGTTIN and SIGTTOU still stop us: a process in the background that catches SIGTTOU
// cannot write to the terminal.)
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

// waitForStopInFork waits, for 200 ms at most, for the one stop of the command that the kernel does
// not report to us (isStoppedInFork), and reports whether it came. It comes if the command is a
// shell that starts programs with vfork, as many do, and Ctrl-Z comes in the middle of a vfork.
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

// stopWith stops this process, too, when SIGTSTP has stopped the command, whether Ctrl-Z or the
// command itself sent that. So the shell sees the stop, and this process goes on when the shell
// continues both. If another signal has stopped the command, this process goes on without a stop.
func (c *Command) stopWith(s syscall.Signal) {
	if s == syscall.SIGTSTP && inOurGroup(c.pid) {
		RaiseDefault(s)
	}
}

// EndedBy returns the signal that we should end by (endsUs), or 0. It is the signal that ended the
// wait, or one that ended the command and came to us too. The sender should see that we obeyed: only
// then bash ends a loop on Ctrl-C, and mends the terminal's modes.
func (c *Command) EndedBy(err error) syscall.Signal {
	var waiting *locksmith.SignalError
	switch {
	case errors.As(err, &waiting):
		if s := waiting.Signal.(syscall.Signal); endsUs(s) {
			return s
		}
	case err == nil:
		<-c.ended
		if s := c.status.Signal(); c.status.Signaled() && endsUs(s) && c.hasGot(s) {
			return s
		}
	}
	return 0
}

// endsUs reports whether we end by a signal that has ended the wait or the command.
func endsUs(s syscall.Signal) bool {
	return s == syscall.SIGINT || s == syscall.SIGTERM || s == syscall.SIGHUP || s == syscall.SIGALRM
}

// signalDelay is for how long, when the command has died of a signal, the same signal to us may
// still be on its way through Go's runtime.
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
