package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/condition"
	"locksmith/backends/owner"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/cli/request"
	"locksmith/cmd/locksmith/cli/show"
	"locksmith/protocol"
)

func (a *app) remove() *cobra.Command {
	var r request.Named
	var yes bool
	c := &cobra.Command{
		Use:   "remove [flags] LOCK",
		Short: "Remove for good a lock that nobody uses any more",
		Long: whichOfThree + "Remove what stays of LOCK while it is free: the directory of an nfs: lock, or of one with\n" +
			"?style=dir; or the file of a flock: lock, if it holds nothing else. For that its lock is taken\n" +
			"for a moment, and whoever tries it just then is refused. Of other locks nothing stays, but of a local: lock the last success of --once-per,\n" +
			"a file with .done after its name, which rm removes. A lock that is held or waited for is left\n" +
			"alone, with status 75. Who asks for it at that moment may get an error. If LOCK is used again\n" +
			"after that, its fencing tokens start again at the beginning, and what compares tokens refuses\n" +
			"them; and two may hold it if one that began to wait before that is still there, stopped. So\n" +
			"first stop for good all programs that use it, on all hosts.",
		Example: "  locksmith remove --yes nfs:/shared/locks/billing",
	}
	r.Add(c, a.self)
	c.Flags().BoolVar(&yes, "yes", false, "nobody uses it any more, and its tokens may start again")
	c.RunE = interruptible(func(ctx context.Context, args []string) error {
		return removeLock(ctx, &r, args, yes, &a.out)
	})
	return c
}

func removeLock(ctx context.Context, r *request.Named, args []string, yes bool, out io.Writer) error {
	b, canonical, err := r.OpenOne(args)
	if err != nil {
		return err
	}
	s, err := look(ctx, canonical, b)
	if err != nil {
		return err
	}
	all := s.All()
	if len(all) > 0 && !condition.Of(all[0].Holder).IsDead() {
		return inUse(canonical, all[0])
	}
	remover, ok := b.(backend.Remover)
	shown := show.Text(canonical)
	if !ok {
		if s.State != "free" {
			return inUse(canonical, all[0])
		}
		stays := "nothing stays that could be removed"
		if s.Success != nil {
			stays = "only the last success stays, in the file with .done after its name: remove it with rm"
		}
		fmt.Fprintf(out, "%s: it is free: of such a lock %s\n", shown, stays)
		return nil
	}
	switch seen := s.Seen(); {
	case seen.Keeps != nil:
		return seen.Keeps
	case !seen.Stays:
		fmt.Fprintf(out, "%s: it is free: there is nothing that could be removed\n", shown)
		return nil
	case !yes && r.Leaseless(canonical):
		return flags.Usagef("%s: nothing was removed: who has the file open already may then get a lock that excludes nobody; if nobody uses it any more, add --yes", canonical)
	case !yes:
		return flags.Usagef("%s: nothing was removed: if it is used again, its fencing tokens start again; if nobody uses it any more, add --yes", canonical)
	}
	_, err = withDeadline(ctx, canonical, "remove", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, removeHeld(ctx, canonical, b, remover)
	})
	if err == nil {
		fmt.Fprintf(out, "%s: removed\n", shown)
	}
	return err
}

func inUse(lock string, p show.Participant) error {
	return &backend.Error{Code: protocol.Held, Lock: lock, Op: "remove", Err: errors.New(p.String()),
		Hint: "if nobody uses it, first end that: locksmith break " + quoted(lock)}
}

// removeHeld removes a lock that nobody else can hold meanwhile.
func removeHeld(ctx context.Context, lock string, b backend.Backend, remover backend.Remover) error {
	attempt, err := b.Attempt(backend.Request{Owner: request.Self(owner.UsualLease), Clock: clock.Boot{}})
	if err != nil {
		return err
	}
	h, err := attempt.Try(ctx)
	if err != nil {
		return errors.Join(err, attempt.Withdraw(ctx))
	}
	_ = h.Tend(ctx) // what dead waiters left
	report, err := b.Read(ctx)
	if err == nil && len(report.Waiters) > 0 {
		err = inUse(lock, show.Participant{Holder: report.Waiters[0], Waits: true})
	}
	if err != nil {
		return errors.Join(err, h.Release(ctx))
	}
	return remover.Remove(ctx, h)
}
