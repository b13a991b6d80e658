package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/cli/show"
	"locksmith/cmd/locksmith/cli/term"
	"locksmith/locksmith"
	"locksmith/locksmith/child"
)

func (a *app) run() *cobra.Command {
	var o flags.Options
	var verbose bool
	c := &cobra.Command{
		Use:   "run [flags] LOCK… -- COMMAND [ARG…]",
		Short: "Run a command while holding a lock",
		Long: "Acquire LOCK, or several together, run COMMAND, release LOCK, and exit as COMMAND did (128+n after\n" +
			"signal n). If the lock is lost, COMMAND and its descendants are ended first; so they are\n" +
			"after the time of --max-hold, and the exit status is 124.\n" +
			"COMMAND dies with locksmith (but not what it started, nor a program in it that is set-uid or\n" +
			"changes its user; on Linux these keep the lock after a kill -9, unless they close what they\n" +
			"inherit, until a waiter's lease is over), and finds LOCKSMITH_LOCK, LOCKSMITH_ID and, where\n" +
			"there is one, LOCKSMITH_TOKEN in its environment, but not the password. Of several locks\n" +
			"they are lists: of lines, and of values with commas between. Before a LOCK, shared: or\n" +
			"exclusive: sets its mode.\n\n" +
			"Signals are passed on to COMMAND, whose end decides. While a job is stopped (Ctrl-Z)\n" +
			"its lock has no heartbeats: if that takes longer than the lease, fg ends COMMAND.\n" +
			"What COMMAND leaves running when it ends goes on without the lock.",
		Example: "  locksmith run local:/var/lock/billing -- ./nightly-billing",
		Args: func(c *cobra.Command, args []string) error {
			dash := c.ArgsLenAtDash()
			if dash < 0 || dash == len(args) {
				return flags.Usagef("write the command after --, as in: locksmith run LOCK -- COMMAND")
			}
			_, err := o.Locks(args[:dash])
			return err
		},
	}
	o.Add(c)
	c.ValidArgsFunction = a.completeRun
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "say how long we waited for the lock and held it")
	c.RunE = func(c *cobra.Command, args []string) error {
		dash := c.ArgsLenAtDash()
		return a.runCommand(&o, args[:dash], args[dash:], verbose)
	}
	return c
}

func (a *app) runCommand(o *flags.Options, locks, argv []string, verbose bool) error {
	targets, err := o.Targets(locks)
	if err != nil {
		return err
	}
	out := &term.Messages{Out: os.Stderr}
	defer out.Finish()
	h, err := o.NewHelper(targets, out)
	if err != nil {
		return err
	}
	line := show.NewWaitLine(os.Stderr, out)
	command := &child.Command{
		Argv: argv, Withhold: secretVariables(targets),
		Tell: line.Show, Log: h.Log, Clock: h.Request.Clock,
	}
	if err := command.Prepare(context.Background()); err != nil {
		return err
	}
	h.Client = command
	command.Describe(&h.Request.Owner)
	finish := o.Events.Record(h, filepath.Base(argv[0]))
	start := h.Request.Clock.Now()
	held, err := h.Run()
	finish(held, err)
	line.Clear()
	if verbose && held > 0 {
		waited := h.Request.Clock.Now() - start - held
		fmt.Fprintf(out, "locksmith: %s: waited %v, held %v\n", h.Address, waited.Round(time.Millisecond), held.Round(time.Millisecond))
	}
	return a.runStatus(o, command, out, err)
}

// secretVariables are the environment variables that may hold passwords of these locks.
func secretVariables(targets []*flags.Target) []string {
	var all []string
	for _, t := range targets {
		all = append(all, t.SecretVariables()...)
	}
	return all
}

// runStatus decides on run's exit status: a loss counts more than the command's own status.
func (a *app) runStatus(o *flags.Options, command *child.Command, out *term.Messages, err error) error {
	if s := command.EndedBy(err); s != 0 {
		out.Finish()
		child.RaiseDefault(s) // no return where the system allows it
	}
	if err == nil {
		a.status = command.Status()
		return nil
	}
	if signal, ok := errors.AsType[*locksmith.SignalError](err); ok {
		a.status = exitStatus(signal)
		return nil
	}
	reportTo(out, err)
	a.status = exitStatusOr(o.Conflict, err)
	return nil
}

// completeRun leaves the command after "--" to the shell.
func (a *app) completeRun(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if slices.Contains(a.args[:len(a.args)-1], "--") {
		return nil, cobra.ShellCompDirectiveDefault // files
	}
	return flags.CompleteMember(c, args, begun)
}
