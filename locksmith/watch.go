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

// The reasons why a parent does not want its lock any more. They are the causes of the context
// that Watch.Start returns.
var (
	ErrStdinClosed = errors.New("the parent closed our standard input")
	ErrStdoutGone  = errors.New("nobody reads our standard output any more")
	ErrParentDied  = errors.New("the parent died")
)

// A Watch says what to watch of a parent.
type Watch struct {
	Stdin  *os.File
	Stdout *os.File
	// StdinUse says whose standard input it is; "" finds out.
	StdinUse StdinUse
	// Parent is the pid to watch. The caller read it as early as it could.
	Parent int
	Log    hclog.Logger

	noPidfd bool // for tests: behave as on kernels without pidfd_open
}

// Start begins to watch. The context that it returns ends with one of the reasons above, or a
// *SignalError, as its cause. If the parent has hung up already, the context has ended. Until
// something happens, the process is not woken. Start settles StdinUse. If it cannot, it returns an
// error: to guess would mean to release the lock too early, or to keep it when the parent lets go.
func (w *Watch) Start(ctx context.Context) (context.Context, error) {
	ctx, stop := context.WithCancelCause(ctx)
	stdin, unknown := w.stdinIsOurs()
	w.StdinUse = StdinIgnore
	if stdin {
		w.StdinUse = StdinWatch
	}
	stdout := IsPipe(w.Stdout)
	hint := w.watchSignals(stop, stdin || stdout)
	w.Log.Debug("watching", "stdin", stdin, "stdout", stdout, "parent", w.Parent)
	if stdin {
		w.watchPipe(ctx, w.Stdin, stop, ErrStdinClosed)
	}
	if stdout {
		w.watchPipe(ctx, w.Stdout, stop, ErrStdoutGone)
	}
	w.watchParent(ctx, stop, hint)
	if unknown != nil && ctx.Err() == nil { // of a parent that is gone, nothing can be found out
		return ctx, fmt.Errorf("cannot tell whether the pipe on standard input is for the helper, or the parent's own: say --stdin watch if its end releases the lock, else --stdin ignore: %w", unknown)
	}
	return ctx, nil
}

// ParentPipe reports whether there is a pipe with a parent at the other end. If not, Ctrl-C and
// similar signals end the wish for the lock. Start must have settled StdinUse.
func (w Watch) ParentPipe() bool { return IsPipe(w.Stdout) || w.StdinUse == StdinWatch }

// closing is how long a parent may take between closing one end of its pipes and the next.
const closing = time.Second

// TooSoon is asked after the lock was released for this cause. If the pipe with which a parent
// lets go is still open, the parent may not have meant to let go, and TooSoon returns an error
// that says so; else nil. With two pipes a parent lets go with the one to our standard input.
// With only the one from our output, closing that is all that it can do.
func (w Watch) TooSoon(cause error) error {
	telling := w.Stdout
	if w.StdinUse == StdinWatch {
		telling = w.Stdin
	}
	if cause != ErrStdoutGone && cause != ErrParentDied || !IsPipe(telling) || !w.staysOpen(telling) {
		return nil
	}
	return fmt.Errorf("%w, but %s is still open at its other end: keep both ends until the work is done, and become a daemon before locksmith is started", cause, telling.Name())
}

// staysOpen reports that the other end of a pipe stays open for the time closing.
func (w Watch) staysOpen(f *os.File) bool {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	return Hangup(ctx, f, f == w.Stdin) != nil
}

// watchPipe looks once before it returns: if the parent has hung up already, it wants no try.
func (w Watch) watchPipe(ctx context.Context, f *os.File, stop context.CancelCauseFunc, reason error) {
	if gone, err := hungUp(f, f == w.Stdin); gone && err == nil {
		stop(reason)
		return
	}
	go func() {
		if err := Hangup(ctx, f, f == w.Stdin); err == nil {
			stop(reason)
		} else if ctx.Err() == nil {
			w.Log.Warn("cannot watch a descriptor of ours", "file", f.Name(), "error", err)
		}
	}()
}

// watchSignals ends the wish for the lock when a signal asks us to end. Ctrl-C and similar
// signals go to every process of a terminal's foreground group. A parent that catches them must
// not lose its lock, so we ignore them if a parent is at the other end of a pipe. The returned
// channel gets the kernel's hints that our parent may be gone.
func (w Watch) watchSignals(stop context.CancelCauseFunc, parentPipe bool) <-chan os.Signal {
	// SIGPIPE: a write error tells better that a pipe has no reader. SIGUSR1 means nothing to us,
	// but would kill us.
	disregard(meaningless()...)
	end := make(chan os.Signal, 1)
	signal.Notify(end, endSignals()...)
	terminal := terminalSignals()
	if parentPipe {
		disregard(terminal...)
	} else {
		for _, s := range terminal {
			if !signal.Ignored(s) { // ignored, as under nohup
				signal.Notify(end, s)
			}
		}
	}
	go func() { stop(&SignalError{<-end}) }()
	return w.deathHint()
}

// parentPoll is how often we call getppid where there is no pidfd.
const parentPoll = time.Second

// watchParent watches for the parent's death. If we cannot see the parent (its pid is 0, because
// it is outside our container), only the pipes tell.
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
	if gone() { // it died before we could look
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

// exited returns a channel that is closed when the parent has ended, or else a channel that says
// when to look.
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
