package cli

import (
	"cmp"
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"locksmith/backends/process"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/cli/programs"
	"locksmith/cmd/locksmith/cli/request"
	"locksmith/cmd/locksmith/cli/term"
	"locksmith/locksmith"
	"locksmith/protocol"
)

func (a *app) hold() *cobra.Command { return a.holdAs(&holding{}) }

func (a *app) holdAs(o *holding) *cobra.Command {
	c := &cobra.Command{
		Use:   "hold [flags] LOCK…",
		Short: "Hold a lock for the program at the other end of the pipe, or by hand",
		Long: "Acquire LOCK, or several locks all or none, print one line (OK …, or ERR … and why\n" +
			"not), and hold the lock until standard input closes, nobody reads standard output any\n" +
			"more, the parent dies, or SIGTERM comes. Then remove the lock and exit. When the time of\n" +
			"--max-hold is over, say LOST, and remove the lock when the parent lets go, or 10 s later.\n" +
			"Before a LOCK of several, shared: or exclusive: sets its mode. With --any it is one of them,\n" +
			"whichever is free first, and OK says which.\n\n" +
			"By hand, at a terminal and without a pipe, Ctrl-C releases it as well.",
		Example: "  locksmith hold local:/var/lock/billing\n" +
			"  locksmith hold --max-hold 8h --reason maintenance nfs:/shared/locks/billing",
		Args: func(_ *cobra.Command, args []string) error {
			if o.again {
				return noLocks(args)
			}
			_, err := o.Locks(args)
			return err
		},
	}
	o.parent = flags.Number{Most: process.MaxPID}
	o.Add(c, a.self)
	c.ValidArgsFunction = o.CompleteMember
	c.Flags().StringVar(&o.stdin, "stdin", "auto", "auto, watch (its end releases the lock) or ignore")
	c.Flags().Var(&o.parent, "parent", "the `pid` whose death releases the lock (default: our parent)")
	c.Flags().BoolVar(&o.beats, "beats", false, "print a BEAT line after each heartbeat")
	c.Flags().BoolVar(&o.again, "again", false, "read requests for one lock after another; see the protocol")
	c.Flags().BoolVar(&o.asks, "ask", false, "after each refusal print a line BUSY, and read from the pipe on standard input how to wait: PAUSE ms=N, PAUSE usual=1 ms=N or END")
	flags.Group(c, flags.ForPrograms, "stdin parent beats again ask")
	c.RunE = func(_ *cobra.Command, args []string) error { return a.runHold(o, args) }
	return c
}

// holding is one run of hold.
type holding struct {
	request.Options
	stdin  string
	parent flags.Number
	beats  bool
	again  bool
	asks   bool
}

func (a *app) runHold(o *holding, args []string) error {
	use, err := locksmith.ParseStdinUse(o.stdin)
	if err != nil {
		return flags.Usagef("--stdin: %w", err)
	}
	if o.again && o.asks {
		return flags.Usagef("--again and --ask do not go together: ask for one lock at a time")
	} else if o.again {
		return a.runAgain(o, use)
	}
	if o.asks && (use == locksmith.StdinIgnore || !locksmith.IsPipe(os.Stdin)) {
		return flags.Usagef("--ask: the answers come on standard input, which must be a pipe of the parent's")
	} else if o.asks {
		use = locksmith.StdinWatch
	}
	out := &term.Messages{Out: os.Stderr}
	defer out.Finish()
	h, _, err := o.NewHelper(args, out)
	if err != nil {
		return err
	}
	parent := cmp.Or(int(o.parent.Value), a.parent)
	h.Hopeless = waitsForUs
	recordParent(h, parent)
	watch := locksmith.Watch{Stdin: os.Stdin, Stdout: os.Stdout, StdinUse: use, Parent: parent, Log: h.Log}
	wanted, err := watch.Start(context.Background())
	if err != nil {
		return flags.Usage(err)
	}
	plain := &locksmith.Pipe{Out: os.Stdout, Parent: wanted, Beats: o.beats, Clock: h.Request.Clock, Began: h.Request.Clock.Now()}
	if o.asks {
		h.Asks = &locksmith.Questions{Pipe: plain, In: os.Stdin}
	}
	pipe := forPeople(&o.Options, h, watch, plain, out)
	h.Client = pipe
	finish := o.Events.Record(h, "")
	held, err := h.Run()
	finish(held, err)
	pipe.Finish(held, err)
	if err != nil {
		a.status = exitStatusOr(o.Conflict, err)
	} else if watch.ParentPipe() {
		a.status = tooSoon(h, watch, context.Cause(pipe.Context()))
	}
	return nil
}

// tooSoon is the exit status of a helper that released its lock though its parent had not let
// go. A service manager may tell both to end. A parent that first finishes its work must see
// that it did so without the lock. So must a parent that closed the wrong end.
func tooSoon(h *locksmith.Helper, w locksmith.Watch, cause error) int {
	if signal, ok := errors.AsType[*locksmith.SignalError](cause); ok {
		h.Log.Info("released because of a signal, before the parent let go", "lock", h.Address, "signal", signal.Signal)
		return exitStatus(signal)
	}
	if err := w.TooSoon(cause); err != nil {
		h.Log.Error("released before the parent let go", "lock", h.Address, "error", err)
		return protocol.Gone.Exit()
	}
	return 0
}

// recordParent puts the parent on record. A parent that cannot be seen may go on working unseen,
// so others must not take it for dead.
func recordParent(h *locksmith.Helper, pid int) {
	p, err := process.Find(pid)
	if err != nil {
		h.Request.Owner.NoProof = true
		return
	}
	h.Request.Owner.Parent = p
	h.Request.Owner.Program = programs.Name(process.Name(pid), func() []string { return process.Arguments(pid) })
}
