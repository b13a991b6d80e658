package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"locksmith/backends/process"
	"locksmith/locksmith"
)

func (a *app) hold() *cobra.Command {
	var o options
	var stdin string
	var parent int
	var beats bool
	c := &cobra.Command{
		Use:   "hold [flags] LOCK…",
		Short: "Hold a lock for the program at the other end of the pipe",
		Long: "Acquire LOCK, or several together, print one line (OK …, or ERR … and why not), and hold the lock until\n" +
			"standard input closes, nobody reads standard output any more, the parent dies, or\n" +
			"SIGTERM comes. Then remove the lock and exit.",
		Example: "  locksmith hold local:/var/lock/billing",
		Args: func(_ *cobra.Command, args []string) error {
			_, err := o.locks(args)
			return err
		},
	}
	o.flags(c)
	c.Flags().StringVar(&stdin, "stdin", "auto", "auto, watch (its end releases the lock) or ignore")
	c.Flags().IntVar(&parent, "parent", 0, "the `pid` whose death releases the lock (default: our parent)")
	c.Flags().BoolVar(&beats, "beats", false, "print a BEAT line after each heartbeat")
	c.RunE = func(_ *cobra.Command, args []string) error {
		use, err := locksmith.ParseStdinUse(stdin)
		if err != nil {
			return usageError{fmt.Errorf("--stdin: %w", err)}
		}
		if parent < 0 || parent > process.MaxPID {
			return usageError{fmt.Errorf("--parent %d is not a process id", parent)}
		}
		locks, err := o.locks(args)
		if err != nil {
			return err
		}
		targets, err := o.findAll(locks)
		if err != nil {
			return err
		}
		h, err := o.helper(targets)
		if err != nil {
			return err
		}
		if parent == 0 {
			parent = a.parent
		}
		recordParent(h, parent)
		watch := locksmith.Watch{Stdin: os.Stdin, Stdout: os.Stdout, StdinUse: use, Parent: parent, Log: h.Log}
		pipe := &locksmith.Pipe{Out: os.Stdout, Parent: watch.Start(context.Background()), Beats: beats, Clock: h.Request.Clock}
		h.Guard = pipe
		finish := o.events.record(h, "")
		held, err := h.Run()
		finish(held, err)
		pipe.Finish(held, err)
		if err != nil {
			a.status = o.status(err)
		}
		return nil
	}
	return c
}

// recordParent puts the parent on record. One that cannot be seen may go on
// working unseen, so nobody may conclude its death.
func recordParent(h *locksmith.Helper, pid int) {
	p, err := process.Find(pid)
	if err != nil {
		h.Request.Owner.NoProof = true
		return
	}
	h.Request.Owner.Parent = p
}
