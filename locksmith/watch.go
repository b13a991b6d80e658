package locksmith

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/hashicorp/go-hclog"

	"locksmith/backends/process"
)

// The reasons a parent's lock is not wanted any more: causes of the context
// that Watch returns.
var (
	ErrStdinClosed = errors.New("the parent closed our standard input")
	ErrStdoutGone  = errors.New("nobody reads our standard output any more")
	ErrParentDied  = errors.New("the parent died")
)

// A Watch says what to watch of a parent.
type Watch struct {
	Stdin  *os.File
	Stdout *os.File
	// StdinUse says whose the standard input is; "" finds out.
	StdinUse StdinUse
	// Parent is the pid to watch; the caller read it as early as it could.
	Parent int
	Log    hclog.Logger

	noPidfd bool // tests: as on kernels without pidfd_open
}

// Start begins to watch and returns a context that ends with one of the reasons
// above, or a *SignalError, as its cause: it has ended already if the parent has hung up
// before. Until then nothing wakes up. It settles StdinUse.
func (w *Watch) Start(ctx context.Context) context.Context {
	ctx, stop := context.WithCancelCause(ctx)
	stdin := w.stdinIsOurs()
	w.StdinUse = StdinIgnore
	if stdin {
		w.StdinUse = StdinWatch
	}
	stdout := isPipe(w.Stdout)
	w.Log.Debug("watching", "stdin", stdin, "stdout", stdout, "parent", w.Parent)
	hint := w.watchSignals(stop, stdin || stdout)
	if stdin {
		w.watchPipe(ctx, w.Stdin, stop, ErrStdinClosed)
	}
	if stdout {
		w.watchPipe(ctx, w.Stdout, stop, ErrStdoutGone)
	}
	w.watchParent(ctx, stop, hint)
	return ctx
}

// ParentPipe reports whether a parent is watched at the other end of a pipe. If not,
// Ctrl-C and its like end the wish for the lock.
func (w Watch) ParentPipe() bool { return isPipe(w.Stdout) || w.stdinIsOurs() }

// closing is how long a parent may take from closing one end of its pipes to the next.
const closing = time.Second

// TooSoon returns nil, or why the parent may not have meant to let go when its lock was
// released for this cause: the pipe with which a parent lets go is still open. With two
// pipes that is the one to our standard input; with one from our output alone, closing that
// is all a parent can do.
func (w Watch) TooSoon(cause error) error {
	telling := w.Stdout
	if w.stdinIsOurs() {
		telling = w.Stdin
	}
	if cause != ErrStdoutGone && cause != ErrParentDied || !isPipe(telling) || !w.staysOpen(telling) {
		return nil
	}
	return fmt.Errorf("%w, but %s is still open at its other end: keep both ends until the work is done, and become a daemon before locksmith is started", cause, telling.Name())
}

// staysOpen reports that the other end of a pipe is not closed within closing.
func (w Watch) staysOpen(f *os.File) bool {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	return Hangup(ctx, f) != nil
}

// watchPipe looks once before it returns: a parent that has hung up already wants no try.
func (w Watch) watchPipe(ctx context.Context, f *os.File, stop context.CancelCauseFunc, reason error) {
	if gone, err := hungUp(f); gone && err == nil {
		stop(reason)
		return
	}
	go func() {
		if err := Hangup(ctx, f); err == nil {
			stop(reason)
		} else if ctx.Err() == nil {
			w.Log.Warn("cannot watch a descriptor of ours", "file", f.Name(), "error", err)
		}
	}()
}

// watchSignals obeys what asks us to end. Ctrl-C and its like go to every process of
// a terminal's foreground group: a parent that catches them must not lose its
// lock, so with a parent at the other end of a pipe they are ignored. The
// channel that is returned gets the kernel's hints that our parent may be gone.
func (w Watch) watchSignals(stop context.CancelCauseFunc, parentPipe bool) <-chan os.Signal {
	// A write error tells of a pipe without a reader better. A signal that means
	// nothing would kill us.
	disregard(meaningless()...)
	end := make(chan os.Signal, 1)
	signal.Notify(end, endSignals()...)
	terminal := terminalSignals()
	if parentPipe {
		disregard(terminal...)
	} else {
		for _, s := range terminal {
			if !signal.Ignored(s) { // as under nohup
				signal.Notify(end, s)
			}
		}
	}
	go func() { stop(&SignalError{<-end}) }()
	return w.deathHint()
}

// parentPoll is how often getppid is asked where there is no pidfd.
const parentPoll = time.Second

// watchParent watches for the parent's death. Without a parent that we can see (a
// pid of 0: it is outside our container) the pipes must do.
func (w Watch) watchParent(ctx context.Context, stop context.CancelCauseFunc, hint <-chan os.Signal) {
	if w.Parent <= 0 {
		w.Log.Warn("the parent is not visible, so its death cannot be watched")
		return
	}
	direct := os.Getppid() == w.Parent
	p, err := process.Find(w.Parent)
	if errors.Is(err, process.ErrNoProcess) {
		stop(ErrParentDied)
		return
	}
	died, poll := w.exited(ctx, p)
	gone := func() bool { return direct && orphaned(p) || p.Gone() }
	if gone() { // before we could look
		stop(ErrParentDied)
		return
	}
	go func() {
		for {
			select {
			case <-died:
				stop(ErrParentDied)
				return
			case <-hint:
			case <-poll:
			case <-ctx.Done():
				return
			}
			if gone() {
				stop(ErrParentDied)
			}
		}
	}()
}

// exited returns a channel that is closed when the parent has ended, or else one that
// says when to look.
func (w Watch) exited(ctx context.Context, p process.Process) (died <-chan struct{}, poll <-chan time.Time) {
	err := errors.ErrUnsupported
	if !w.noPidfd {
		if died, err = p.Exited(ctx); err == nil {
			return died, nil
		}
	}
	w.Log.Debug("polling for the parent's death", "error", err)
	ticker := time.NewTicker(parentPoll)
	context.AfterFunc(ctx, ticker.Stop)
	return nil, ticker.C
}
