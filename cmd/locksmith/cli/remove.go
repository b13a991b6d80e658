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
		Long: whichOfThree + "First stop for good all programs that use LOCK, on all hosts. Then remove removes what stays of a\n" +
			"free lock: the directory of nfs:, sftp: and ?style=dir, the objects or keys of s3: and etcd:, and\n" +
			"the file of flock: if nothing else is in it. Of other locks nothing stays, but of local: a file with\n" +
			".done after its name, the last success of --once-per, which rm removes. remove takes the lock for a\n" +
			"moment: who asks for it just then is refused, or gets an error. A lock that is held or waited for is\n" +
			"left alone, and the exit status is 75. If LOCK is used again, fencing tokens of nfs:, sftp: and\n" +
			"?style=dir start again, and what compares tokens refuses them. Those of s3: and etcd: go on rising.\n" +
			"If a program that began to wait before the removal is still there, stopped, two may hold it.",
		Example: "  locksmith remove --yes nfs:/shared/locks/billing",
	}
	r.Add(c, a.self)
	c.Flags().BoolVar(&yes, "yes", false, "nobody uses it any more, on any host")
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
		return flags.Usagef("%s: nothing was removed: if it is used again, its fencing tokens start again, unless it is one of s3: or etcd:; if nobody uses it any more, on any host, add --yes", canonical)
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
