package cli

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/cli/request"
	"locksmith/cmd/locksmith/cli/show"
	"locksmith/protocol"
)

// kindsWithTokens are the kinds of locks whose holders get fencing tokens.
const kindsWithTokens = "nfs:, sftp:, s3:, etcd: and, with ?style=dir, mkdir:, ftp: and ftps:"

func (a *app) check() *cobra.Command {
	var r request.Named
	token := flags.Number{Least: 1, Most: math.MaxUint64}
	var verbose bool
	c := &cobra.Command{
		Use:   "check [flags] LOCK --token N",
		Short: "Find out whether a fencing token is the newest",
		Long: "Exit with 0, and say nothing, if N is the newest fencing token of LOCK: nobody has got the lock\n" +
			"since. Otherwise say why not; the exit status is 79 if N is not the newest. For scripts that write\n" +
			"under a lock. Somebody may get the lock right after this: where it is possible, hand N to what is\n" +
			"written to, and let that refuse smaller ones.\n" +
			"Tokens have " + kindsWithTokens + ".\n" +
			"To see the newest, check makes a directory beside the lock and removes it, for which this user\n" +
			"needs the right. With s3: it lists the objects, and makes none.",
		Example: "  locksmith check nfs:/shared/locks/billing --token \"$LOCKSMITH_TOKEN\"",
	}
	r.Add(c, a.self)
	f := c.Flags()
	f.Var(&token, "token", "the `number` that the holder was given")
	f.BoolVar(&verbose, "verbose", false, "say so if it is the newest")
	c.RunE = interruptible(func(ctx context.Context, args []string) error {
		if !token.Given {
			return flags.Usagef("--token is missing: tokens are 1 or more")
		}
		b, canonical, err := r.OpenOne(args)
		if err != nil {
			return err
		}
		newest, err := withDeadline(ctx, canonical, "look for the newest token", b.NewestToken)
		if errors.Is(err, backend.ErrNoTokens) {
			return &backend.Error{Code: protocol.Usage, Lock: canonical, Op: "check a token", Err: backend.ErrNoTokens,
				Hint: "tokens have " + kindsWithTokens}
		} else if err != nil {
			return err
		}
		if err := compareToken(canonical, token.Value, newest); err != nil {
			return err
		}
		if verbose {
			fmt.Fprintf(&a.out, "%s: token %d is the newest\n", show.Text(canonical), token.Value)
		}
		return nil
	})
	return c
}

// compareToken returns nil for the newest one.
func compareToken(lock string, token, newest uint64) error {
	var why string
	switch {
	case token == newest:
		return nil
	case newest == 0:
		why = "none was given yet"
	case token > newest:
		why = fmt.Sprintf("it was not given: the newest is %d", newest)
	default:
		why = fmt.Sprintf("it is over: the newest is %d", newest)
	}
	return &backend.Error{Code: protocol.Gone, Lock: lock, Op: fmt.Sprintf("check token %d", token), Err: errors.New(why),
		Hint: "leave alone what the lock guards"}
}
