package cli

import (
	"context"

	"locksmith/cmd/locksmith/cli/flags"

	"github.com/spf13/cobra"
)

func (a *app) list() *cobra.Command {
	l := listing{depth: flags.Unlimited}
	var where []string
	c := &cobra.Command{
		Use:   "list [flags] PLACE…",
		Short: "Show all locks in a directory, and who has them",
		Long: "Show the locks in PLACE and below it. PLACE is the address of a directory, for the locks of\n" +
			"one kind: local:/dir, link:/dir, mkdir:/dir, nfs:/dir, ftp://host/dir; or the path of one, for\n" +
			"those of all kinds on file systems. Of one lock alone tells status.\n\n" +
			"Locks are known by what locksmith writes into them. With local: and link: also files that hold\n" +
			"a pid and nothing else are shown; with mkdir:, ftp: and ftps: also empty directories, which\n" +
			"somebody unknown holds, unless there is ?style=dir. Symbolic links are not followed. Free\n" +
			"locks are shown where something of them stays, and no --where or other filter was given.\n\n" +
			"--where compares KEY with VALUE: KEY=VALUE, KEY!=VALUE, and <, >, <=, >=. KEY is user, host,\n" +
			"id, mode, state (held or waiting), verdict (alive, dead, orphaned or unknown), pid, token, age, heartbeat,\n" +
			"lease, or else a key of --meta, which meta.KEY always is. Ages and the like are durations, pid\n" +
			"and token are numbers; metadata is compared as two numbers or two durations (90s, 1h30m) if\n" +
			"both are, and else as text. What somebody has no value for only matches !=. Who is shown must\n" +
			"match each --where.\n\n" +
			"What could not be looked at is told on standard error, and decides the exit status.",
		Example: "  locksmith list /var/lock\n" +
			"  locksmith list --held --where job=nightly --where 'age>1h' nfs:/shared/locks\n" +
			"  locksmith list --json ftp://loader@ftp.example.org/locks",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return flags.Usagef("need at least one directory")
			}
			return nil
		},
	}
	l.Connect.Add(c)
	c.ValidArgsFunction = completePlace
	f := c.Flags()
	f.StringArrayVar(&where, "where", nil, "only holders and waiters that match, as in job=nightly or 'age>1h'")
	f.StringVar(&l.mode, "mode", "", "only those who have or want it `shared|exclusive`")
	f.BoolVar(&l.held, "held", false, "only holders")
	f.BoolVar(&l.waiting, "waiting", false, "only waiters")
	f.BoolVar(&l.asJSON, "json", false, "print one JSON document")
	f.Var(&l.depth, "depth", "how many directories deep to look, 1 being in PLACE alone; else all, but 1 on FTP")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := l.prepare(where); err != nil {
			return err
		}
		ctx, stop := untilSignal(cmd.Context())
		defer stop()
		return a.listAll(ctx, &l, args)
	}
	return c
}

// listAll goes from place to place, until a signal.
func (a *app) listAll(ctx context.Context, l *listing, args []string) error {
	out := l.output(&a.out)
	for _, place := range args {
		if ctx.Err() != nil {
			break
		}
		l.place(ctx, place, func(s lockStatus, err error) {
			if err != nil {
				a.note(err)
			}
			out.add(s, err)
		})
	}
	return out.end()
}

// completePlace is flags.CompleteLock for a directory, which may also be given as a path.
func completePlace(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if isPath(begun) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return flags.CompleteLock(c, args, begun)
}
