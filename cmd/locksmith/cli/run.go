package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/cli/programs"
	"locksmith/cmd/locksmith/cli/request"
	"locksmith/cmd/locksmith/cli/show"
	"locksmith/cmd/locksmith/cli/term"
	"locksmith/locksmith"
	"locksmith/locksmith/child"
	"locksmith/protocol"
)

func (a *app) run() *cobra.Command { return a.runAs(&running{}) }

// runAs is run, with the values of its flags in o.
func (a *app) runAs(o *running) *cobra.Command {
	o.once, o.skip = locksmith.Forever, flags.Number{Most: 255}
	var line, ask string
	var locks, argv []string
	c := &cobra.Command{
		Use:   "run [flags] LOCK… -- COMMAND [ARG…]",
		Short: "Run a command while holding a lock",
		Long: "Acquire LOCK, run COMMAND, release LOCK, and exit as COMMAND did (128+n after signal n). If the\n" +
			"lock is lost, end COMMAND and its descendants, and exit with 79; after the time of --max-hold end\n" +
			"them, too, and exit with 124.\n" +
			"Several LOCKs are taken all or none, and shared: or exclusive: before a LOCK sets its mode. With\n" +
			"--any it is one of them, whichever is free first.\n" +
			"COMMAND finds LOCKSMITH_LOCK, LOCKSMITH_ID and, where there is one, LOCKSMITH_TOKEN in its\n" +
			"environment, but no password. Of several locks these are lists: of lines, and of values with\n" +
			"commas between.\n" +
			"With --once-per a success of COMMAND (0) is put down beside the lock before it is released. A run\n" +
			"that finds a success younger than that does not start its COMMAND, and exits with 0.\n" +
			"With --ask a line for the shell decides after each refusal how to wait. Its environment has\n" +
			"LOCKSMITH_BUSY (who has the lock), LOCKSMITH_TRIES, LOCKSMITH_WAITED_MS, LOCKSMITH_LOCK and, as\n" +
			"far as they are known, LOCKSMITH_HOLDER, LOCKSMITH_HOLDER_PID, _HOST and _USER.\n\n" +
			"Signals are passed on to COMMAND, and run ends when COMMAND does. While a job is stopped (Ctrl-Z)\n" +
			"its lock has no heartbeats: if that takes longer than the lease, fg ends COMMAND.\n" +
			"What COMMAND leaves running does not keep the lock, except that of flock:, unless there is -o. If\n" +
			"run is killed with -9, COMMAND dies, too, but not what it started, nor a program that is set-uid\n" +
			"or changes its user. On Linux these then keep the lock until a waiter's lease is over (flock:\n" +
			"until they end), unless they close what they inherit.\n" +
			"With -F, and one lock of flock:, run becomes COMMAND, as exec does. Then a COMMAND that closes\n" +
			"what it inherits, as ssh and sudo do, loses the lock.",
		Example: "  locksmith run local:/var/lock/billing -- ./nightly-billing\n" +
			"  locksmith run -n local:/var/lock/stock -c 'cd /srv/stock && ./load *.csv'",
		Args: func(c *cobra.Command, args []string) (err error) {
			if locks, argv, err = split(c, args, line); err == nil {
				_, err = o.Locks(locks)
			}
			return err
		},
	}
	o.Add(c, a.self)
	c.SetFlagErrorFunc(a.runFlagError)
	c.ValidArgsFunction = func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return a.completeRun(o, c, args, begun)
	}
	become := c.PreRunE
	c.PreRunE = func(c *cobra.Command, _ []string) error { return become(c, locks) }
	f := c.Flags()
	f.BoolVarP(&o.verbose, "verbose", "v", false, "say how long we waited for the lock, before COMMAND begins, and how long we held it")
	f.BoolVar(&o.alone, "no-forward", false, "pass no signal on to COMMAND: for batch systems, which signal COMMAND themselves")
	f.Var(flags.Duration(&o.once), "once-per", "do not run COMMAND if it succeeded under this lock less than so long ago, on whatever host")
	f.Var(&o.skip, "skip-status", "exit `status` instead of 0 when --once-per keeps COMMAND from being run")
	f.StringVarP(&line, "command", "c", "", "instead of -- COMMAND: a `line` for $SHELL, or /bin/sh")
	f.BoolVarP(&o.closes, "close", "o", false, "keep the lock of flock: from COMMAND, so that what it leaves running does not keep it (other locks COMMAND never has)")
	f.BoolVarP(&o.becomes, "no-fork", "F", false, "become COMMAND, or say what prevents that (flock: alone); then the lock is COMMAND's to keep")
	f.StringVar(&ask, "ask", "", "after each refusal have the shell run a `line`, which prints how to wait: PAUSE ms=N, PAUSE usual=1 ms=N or END; or nothing: its status 0 is to wait as usual, 1 to give up")
	c.RunE = func(*cobra.Command, []string) error {
		if ask != "" {
			o.ask = shell(ask)
		}
		return a.runCommand(o, locks, argv)
	}
	return c
}

// running is one run of run.
type running struct {
	request.Options
	verbose bool
	closes  bool          // -o
	becomes bool          // -F
	alone   bool          // --no-forward
	once    time.Duration // --once-per; locksmith.Forever: not given
	skip    flags.Number
	ask     []string  // --ask, as a command
	flock   *flocking // how to end, and what to say, as flock(1); nil: not as that
}

// split returns the locks and the command; line is what a shell shall run, if given.
func split(c *cobra.Command, args []string, line string) (locks, argv []string, err error) {
	dash, inShell := c.ArgsLenAtDash(), c.Flags().Changed("command")
	switch {
	case inShell && dash >= 0:
		return nil, nil, flags.Usagef("-c is there and --, too: write one command")
	case inShell:
		return args, shell(line), nil
	case dash >= 0 && dash < len(args):
		return args[:dash], args[dash:], nil
	case len(args) == 2 && dash < 0 && !strings.Contains(args[1], ":"): // as flock(1) takes it
		return nil, nil, flags.Usagef("write the command after --, as in: locksmith run %s -- %s", args[0], args[1])
	}
	return nil, nil, flags.Usagef("write the command after --, as in: locksmith run LOCK -- COMMAND")
}

// shell is the command that has a shell run a line.
func shell(line string) []string { return []string{cmp.Or(os.Getenv("SHELL"), "/bin/sh"), "-c", line} }

// ofFlock says what to write instead of a flag of flock(1) that run lacks, or "".
func ofFlock(flag string) string {
	switch flag {
	case "e":
		return "write -x"
	case "nb":
		return "write -n"
	case "wait":
		return "write -w"
	case "u", "unlock":
		return "leave it out: the lock is released when the command ends"
	case "fcntl":
		return "leave it out: it is a kind of lock that only flock(1) has"
	}
	return ""
}

// runFlagError says what to write instead of an unknown flag of run.
func (a *app) runFlagError(_ *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return flags.Usage(err)
	}
	instead := ofFlock(unknown.GetSpecifiedName())
	switch {
	case instead != "":
		return flags.Usagef("%w: %s", err, instead)
	case !slices.Contains(a.self.Args, "--"):
		return flags.Usagef("%w; write the command after --, as in: locksmith run LOCK -- COMMAND", err)
	}
	return flags.Usage(err)
}

func (a *app) runCommand(o *running, locks, argv []string) error {
	out := &term.Messages{Out: os.Stderr}
	defer out.Finish()
	h, targets, err := o.NewHelper(locks, out)
	if err != nil {
		return err
	}
	h.Hopeless = waitsForUs
	if o.ask != nil {
		h.Asks = shellAsker{o.ask, h.Address, secretVariables(targets)}
	}
	line := newWaitLine(&o.Options, h, os.Stderr, out)
	if o.LogsJSON() {
		line.AtOnce()
	}
	command := &child.Command{
		Argv: argv, Withhold: secretVariables(targets),
		Tell: line.Show, Log: h.Log, Clock: h.Request.Clock, Closes: o.closes, Alone: o.alone,
		Late: o.flock != nil,
	}
	switch h.Once, err = request.Once(h, o.once, targets); {
	case err != nil:
		return err
	case h.Once != nil:
		h.Once.Succeeded = func() bool { return command.Status() == 0 }
	case o.skip.Given:
		return flags.Usagef("--skip-status goes with --once-per")
	}
	if err := a.choosePart(o, h, command); err != nil {
		return err
	}
	if command.Becomes {
		command.Caught = line.Draws()
	}
	if err := command.Prepare(context.Background()); err != nil {
		return err
	}
	h.Client = command
	command.Describe(&h.Request.Owner)
	h.Request.Owner.Program = programs.Name(argv[0], func() []string { return argv })
	finish := o.Events.Record(h, filepath.Base(argv[0]))
	start := h.Request.Clock.Now()
	waited := func() time.Duration { return (h.Request.Clock.Now() - start).Round(time.Millisecond) }
	if o.flock != nil {
		command.Tell = func(held *backend.HeldError) {
			if held == nil {
				o.flock.granted(h.Request.Clock.Now() - start)
			}
		}
	} else if o.verbose {
		command.Tell = func(held *backend.HeldError) {
			if line.Show(held); held == nil {
				fmt.Fprintf(out, "locksmith: %s: waited %v\n", h.Address, waited())
			}
		}
	}
	held, err := h.Run()
	finish(held, err)
	command.CatchAll()
	line.Clear()
	if o.verbose && held > 0 {
		fmt.Fprintf(out, "locksmith: %s: held %v\n", h.Address, held.Round(time.Millisecond))
	} else if cancelled, ok := errors.AsType[*locksmith.CancelledError](err); o.verbose && ok {
		fmt.Fprintf(out, "locksmith: %s: waited %v, not held: %v\n", h.Address, waited(), cancelled.Cause)
	}
	return a.runStatus(o, command, h.Log, out, err)
}

// choosePart decides whether run becomes its command. It does so with -F alone: a program that closes
// what it inherits, as ssh and sudo do, would let the lock go, and nobody would be told. If run stays
// beside the command, it has the lock as well. It goes on when the file of a flock: lock is replaced,
// because the command has that lock, too.
func (a *app) choosePart(o *running, h *locksmith.Helper, command *child.Command) error {
	if o.becomes {
		if why := o.stays(h, a.self.Kinds.Leaseless(h.Address)); why != "" {
			return flags.Usagef("-F: run cannot become the command: %s", why)
		}
	}
	command.Becomes, h.Brief = o.becomes, o.becomes
	if o.flock != nil { // which does not look whether the file is replaced
		h.Request.Moved = func(error) {}
		return nil
	}
	if command.Becomes || o.closes {
		return nil
	}
	h.Request.Moved = func(err error) {
		h.Log.Warn("the command goes on under the lock of a file that is not there any more", "lock", h.Address, "error", err)
	}
	return nil
}

// stays is the reason why run must stay beside its command, or "".
func (o *running) stays(h *locksmith.Helper, leaseless bool) string {
	switch {
	case h.Locks != nil:
		return "it looks after several locks"
	case !leaseless:
		return "it looks after the lock; only one of flock: needs nobody for that"
	case o.closes:
		return "-o keeps the lock from the command"
	case h.Request.Owner.MaxHold > 0:
		return "--max-hold needs somebody to end the command"
	case h.Once != nil:
		return "--once-per needs somebody to put down a success"
	case o.alone:
		return "with --no-forward run stays, and passes on nothing"
	case o.verbose:
		return "-v needs somebody to tell of the end"
	case o.Events.Given():
		return "--events needs somebody to tell of the end"
	}
	return ""
}

// secretVariables are the environment variables that may hold passwords of these locks.
func secretVariables(targets []*request.Target) []string {
	var all []string
	for _, t := range targets {
		all = append(all, t.SecretVariables()...)
	}
	return all
}

// runStatus decides run's exit status. A loss counts more than the command's own status.
func (a *app) runStatus(o *running, command *child.Command, log hclog.Logger, out *term.Messages, err error) error {
	if s := command.EndedBy(err); s != 0 {
		out.Finish()
		child.RaiseDefault(s) // where the system allows it, this does not return
	}
	if err == nil {
		a.status = command.Status()
		return nil
	}
	if signal, ok := errors.AsType[*locksmith.SignalError](err); ok {
		a.status = exitStatus(signal)
		return nil
	}
	if o.flock != nil {
		a.status = o.flock.end(command, err)
		return nil
	}
	if recent, ok := errors.AsType[*locksmith.RecentError](err); ok {
		if o.verbose {
			fmt.Fprintf(out, "locksmith: %s\n", show.Text(recent.Error()))
		}
		a.status = int(o.skip.Value)
		return nil
	}
	loss, isLoss := errors.AsType[*locksmith.LossError](err)
	told := isLoss && loss.Code != protocol.MaxHold && log.IsError() // told when it came
	if !told && !(o.Quiet && isHeld(err) && !isStuck(err)) {
		reportTo(out, err)
	}
	if command.Ended() && command.Status() < protocol.BySignal { // not by our signals: what it did has happened, whatever became of the lock
		fmt.Fprintf(out, "locksmith: the command ended with status %d\n", command.Status())
	}
	a.status = exitStatusOr(o.Conflict, err)
	return nil
}

// completeRun leaves the command after "--" to the shell.
func (a *app) completeRun(o *running, c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if slices.Contains(a.self.Args[:len(a.self.Args)-1], "--") {
		if a.self.Args[len(a.self.Args)-2] == "--" && begun != "" && !strings.Contains(begun, "/") {
			return request.Commands(begun), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveDefault // files
	}
	return o.CompleteMember(c, args, begun)
}
