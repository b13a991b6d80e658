// Package cli is the command line: it turns arguments into a request, and the outcome into an
// exit status and a hint. It does nothing else.
package cli

import (
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"locksmith/backends"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/cli/request"
	"locksmith/cmd/locksmith/cli/show"
	"locksmith/cmd/locksmith/cli/start"
	"locksmith/protocol"
)

// Main runs locksmith with these arguments on the standard streams, and returns its exit status.
// A program that wants to be its own helper passes Main to client.Init.
func Main(args []string) int { return run(args, backends.Usual()) }

// With is Main of a program that has these kinds of locks, too.
func With(more ...backends.Kind) func(args []string) int {
	return func(args []string) int { return run(args, append(backends.Usual(), more...)) }
}

func run(args []string, kinds backends.Kinds) int {
	// Read the parent before anything else takes time: its death releases the lock.
	parent := os.Getppid()
	if len(args) == 1 && os.Getenv(backends.AskpassVariable) != "" {
		return askpass(args[0])
	}
	args = spelled(args)
	a := &app{self: request.Program{Kinds: kinds, Args: args}, parent: parent, out: show.Output{To: os.Stdout}}
	if err := start.Allowed(); err != nil {
		a.fail(err)
		return a.status
	}
	if len(args) > 0 && (args[0] == "hold" || args[0] == "run" || args[0] == "flock") {
		start.Lean()
	}
	root := a.rootFor(args)
	root.SetArgs(args)
	err := a.execute(root)
	if unwritten := a.out.Failure(); unwritten != nil { // no other status tells that the output is not complete
		if err != nil {
			report(err)
		}
		a.status, err = 0, unwritten
	}
	if err != nil {
		a.fail(err)
	}
	return a.status
}

// askpass answers an ssh that a helper of sftp: has started, instead of a person.
func askpass(prompt string) int {
	if err := backends.Askpass(prompt, os.Stdout); err != nil {
		return 1 // tells ssh that there is no answer
	}
	return 0
}

// execute runs the command. We report an unknown command ourselves, because cobra takes five
// lines for that.
func (a *app) execute(root *cobra.Command) error {
	err := root.Execute()
	if err == nil || a.completes() {
		return err
	}
	found, rest, unknown := root.Find(a.self.Args)
	if unknown != nil {
		return unknownCommand(found, firstWord(root, rest))
	}
	if usage, ok := errors.AsType[flags.UsageError](err); ok && found.HasParent() {
		usage.Command = strings.TrimPrefix(found.CommandPath(), root.Name()+" ")
		return usage
	}
	return err
}

// app is one run of the program.
type app struct {
	self   request.Program
	parent int         // the pid of our parent at the start
	status int         // the exit status so far
	out    show.Output // all that commands print, except what hold tells its parent
}

// program is the root of commands, without any.
func (a *app) program() *cobra.Command {
	root := &cobra.Command{
		Use:   "locksmith",
		Short: "Hold locks for programs that cannot be trusted to release them",
		Long: "locksmith holds locks for other programs and releases them when those let go,\n" +
			"exit, crash or are killed.\n\n" +
			"A LOCK is an address, such as local:/var/lock/billing, or the name of a profile in\n" +
			"~/.config/locksmith/profiles.toml or /etc/locksmith/profiles.toml.",
		Example: "  locksmith run --timeout 5m local:/var/lock/billing -- ./nightly-billing\n" +
			"  locksmith status local:/var/lock/billing",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flags.Usage(err) })
	a.catchOutput(root)
	flags.ShowGroups(root)
	return root
}

// atLeastOne takes some arguments, such as directories.
func atLeastOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return flags.Usagef("need at least one %s", what)
		}
		return nil
	}
}

// fail reports an error of a command that did not get as far as reporting itself. A parent of
// hold reads it as a line. People read it once.
func (a *app) fail(err error) {
	if len(a.self.Args) > 0 && a.self.Args[0] == "hold" {
		if line, e := protocol.Failure(protocol.WordErr, codeOf(err), err.Error()).Format(); e == nil {
			_, _ = os.Stdout.WriteString(line)
			if isOneReader() {
				reportRest(os.Stderr, err)
				a.settle(exitStatus(err))
				return
			}
		}
	}
	a.note(err)
}
