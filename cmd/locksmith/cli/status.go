package cli

import (
	"context"
	"time"

	"locksmith/cmd/locksmith/cli/flags"

	"github.com/spf13/cobra"
)

func (a *app) statusCommand() *cobra.Command {
	var asJSON bool
	var r flags.Connect
	var g flags.File
	var w watchFlags
	c := &cobra.Command{
		Use:   "status [flags] LOCK…",
		Short: "Show who holds a lock",
		Long: "Show for each LOCK who holds it and who waits for it. With --watch go on looking, and show\n" +
			"it again: on a terminal in place, until Ctrl-C, and elsewhere when something else than a\n" +
			"time has changed, until a signal comes or nobody reads it any more. A look that fails is\n" +
			"shown, too. At an FTP server each look is a login.",
		Example: "  locksmith status local:/var/lock/billing\n" +
			"  locksmith status --watch nfs:/shared/locks/billing nfs:/shared/locks/stock",
		Args: func(_ *cobra.Command, args []string) error {
			_, err := g.Locks(args)
			return err
		},
	}
	r.Add(c)
	g.Add(c)
	w.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document; with --watch one line for each change")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := w.check(c); err != nil {
			return err
		}
		args, err := g.Locks(args)
		if err != nil {
			return err
		}
		if w.watch {
			return a.watchStatus(&r, args, time.Duration(w.every), asJSON)
		}
		return a.showStatus(cmd.Context(), &r, args, asJSON)
	}
	return c
}

// showStatus looks once at each.
func (a *app) showStatus(ctx context.Context, r *flags.Connect, args []string, asJSON bool) error {
	locks := []lockStatus{}
	for _, lock := range args {
		s, err := inspect(ctx, r, lock)
		if err != nil {
			a.note(err)
			s.Error = err.Error()
		}
		locks = append(locks, s)
	}
	if asJSON {
		return a.out.JSON(map[string]any{"locks": locks})
	}
	for _, s := range locks {
		s.print(&a.out)
	}
	return nil
}

func inspect(ctx context.Context, r *flags.Connect, lock string) (lockStatus, error) {
	b, address, err := r.Open(lock)
	s := unseen(address)
	if err == nil {
		err = s.look(ctx, b)
	}
	return s, err
}
