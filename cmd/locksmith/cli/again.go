package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/cli/request"
	"locksmith/cmd/locksmith/cli/term"
	"locksmith/locksmith"
	"locksmith/protocol"
)

const (
	// mostAgain and longestAgain are how many acquisitions one helper serves, and for how long.
	// If anything leaks, the helper's end frees it.
	mostAgain    = 4096
	longestAgain = time.Hour
)

func noLocks(args []string) error {
	if len(args) > 0 {
		return flags.Usagef("--again takes no LOCK: each request names its own")
	}
	return nil
}

// An again is a helper that serves one acquisition after another. What it was started with holds
// for all of them. Everything else is made anew for each.
type again struct {
	app      *app
	start    *holding
	parent   int
	wanted   context.Context // ends when the parent has hung up or died
	requests *locksmith.Requests
	locks    int             // of the largest set so far; 0: there was no lock yet
	say      *locksmith.Pipe // for lines that answer no request
}

// runAgain serves requests until the parent has let go of the helper.
func (a *app) runAgain(o *holding, use locksmith.StdinUse) error {
	out := &term.Messages{Out: os.Stderr}
	defer out.Finish()
	log, err := o.Logger(out)
	if err != nil {
		return err
	}
	s := &again{app: a, start: o, parent: cmp.Or(int(o.parent.Value), a.parent)}
	if use == locksmith.StdinIgnore {
		return flags.Usagef("--again reads standard input, so --stdin ignore does not go with it")
	}
	watch := locksmith.Watch{Stdin: os.Stdin, Stdout: os.Stdout, StdinUse: locksmith.StdinWatch, Parent: s.parent, Log: log}
	if s.wanted, err = watch.Start(context.Background()); err != nil {
		return flags.Usage(err)
	}
	if watch.StdinUse != locksmith.StdinWatch {
		return flags.Usagef("--again reads requests, and standard input is no pipe")
	}
	if s.requests, err = locksmith.ReadRequests(s.wanted, os.Stdin); err != nil {
		return flags.Usagef("--again is not there on this system: %w", err)
	}
	s.say = &locksmith.Pipe{Out: os.Stdout, Parent: s.wanted, Clock: clock.Boot{}}
	if err := s.say.Say(protocol.Ready()); err != nil {
		return err
	}
	if err := s.serve(out); err != nil {
		return err
	}
	if signal, ok := errors.AsType[*locksmith.SignalError](context.Cause(s.wanted)); ok {
		a.status = exitStatus(signal)
	}
	return nil
}

func (s *again) serve(out *term.Messages) error {
	c := clock.Boot{}
	begun := c.Now()
	for range mostAgain {
		asked, err := s.requests.Next()
		if err != nil {
			return flags.Usagef("a request cannot be read: %w", err)
		}
		if asked == nil || s.wanted.Err() != nil {
			return nil
		}
		if !s.one(asked, out) || c.Now()-begun > longestAgain {
			return nil
		}
	}
	return nil
}

// one serves one acquisition. It reports whether another may follow, because nothing of this one
// is left.
func (s *again) one(asked *locksmith.Asked, out *term.Messages) bool {
	c := clock.Boot{}
	pipe := &locksmith.Pipe{Out: overAt{os.Stdout, s.requests, asked}, Parent: asked.Context, Beats: s.start.beats, Clock: c, Began: c.Now(), Number: asked.Number}
	if asked.Context.Err() != nil { // it does not begin
		pipe.Finish(0, &locksmith.CancelledError{Lock: "the request", Cause: context.Cause(asked.Context)})
		return true
	}
	h, err := s.helper(asked, pipe, out)
	if err != nil {
		line := protocol.Failure(protocol.WordErr, codeOf(err), protocol.ErrorText(err))
		if errors.Is(err, errOwn) {
			line = line.WithOwn()
		}
		return pipe.Say(line) == nil && !pipe.Caught()
	}
	// If we were stopped meanwhile, or the parent does not read yet, it finds the line later.
	if err := pipe.Say(protocol.Line{Word: protocol.WordBegun}); err != nil && !errors.Is(err, backend.ErrNoAnswer) {
		return false
	}
	h.Client, h.HasThreads = pipe, s.locks >= max(len(h.Locks), 1)
	s.locks = max(s.locks, len(h.Locks), 1)
	finish := s.start.Events.Record(h, "")
	held, err := h.Run()
	finish(held, err)
	pipe.Finish(held, err)
	_, isLoss := errors.AsType[*locksmith.LossError](err)
	return !isLoss && !h.LeftBehind() && !pipe.Caught()
}

// errOwn refuses what another process has to do.
var errOwn = errors.New("a lock of this kind needs a helper of its own")

// helper makes the helper of one request, as hold with these arguments would.
func (s *again) helper(asked *locksmith.Asked, pipe *locksmith.Pipe, out *term.Messages) (*locksmith.Helper, error) {
	o := &holding{}
	c := s.app.holdAs(o)
	if err := c.ParseFlags(asked.Args); err != nil {
		return nil, flags.Usage(err)
	}
	if err := o.CheckAgain(); err != nil {
		return nil, err
	}
	args := c.Flags().Args()
	if err := c.Args(c, args); err != nil {
		return nil, err
	}
	if !request.Repeatable(args) {
		return nil, errOwn
	}
	o.LogAs(&s.start.Options)
	h, _, err := o.NewHelper(args, out)
	if err != nil {
		return nil, err
	}
	h.Hopeless = waitsForUs
	// A thread that sleeps for such a lock cannot be woken, and might get the lock later.
	h.Request.Several = s.app.self.Kinds.Leaseless(h.Address)
	recordParent(h, s.parent)
	return h, nil
}

// An overAt lets the next request come just before the last answer to this one goes out, because
// the parent may write it at once.
type overAt struct {
	io.Writer
	requests *locksmith.Requests
	asked    *locksmith.Asked
}

func (w overAt) Write(p []byte) (int, error) {
	if line, err := protocol.Parse(string(p)); err == nil && (line.Word == protocol.WordErr || line.Word == protocol.WordReleased) {
		w.requests.Over(w.asked)
	}
	return w.Writer.Write(p)
}
