package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/protocol"
)

func (a *app) doctor() *cobra.Command {
	var r flags.Connect
	var asJSON bool
	idle := flags.Duration(20 * time.Second)
	c := &cobra.Command{
		Use:   "doctor [flags] ADDRESS…",
		Short: "Find out whether a place is fit for locks",
		Long: "Try out in a directory of its own, beside the lock at ADDRESS, all that locks need, and\n" +
			"remove it again. The lock itself is left alone. Each line is one check: fit; weak, where\n" +
			"locks work but something should be better; unfit, where they are not safe or not possible;\n" +
			"or unknown. At an FTP server this takes up to eight connections for a moment, and one for\n" +
			"as long as --idle. The exit status is 73 if anything is unfit.",
		Example: "  locksmith doctor local:/var/lock/billing\n" +
			"  locksmith doctor --idle 6m ftps://loader@ftp.example.org/locks/import",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return flags.Usagef("need at least one address")
			}
			return nil
		},
	}
	r.Add(c)
	f := c.Flags()
	f.Var(&idle, "idle", "how long to leave a connection to a server idle, to see whether it is closed")
	f.BoolVar(&asJSON, "json", false, "print one JSON document")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if idle < 0 {
			return flags.Usagef("--idle cannot be negative")
		}
		ctx, stop := untilSignal(cmd.Context())
		defer stop()
		places := []placeExamined{}
		for _, place := range args {
			p := placeExamined{Place: place, Checks: []placeCheck{}, out: &a.out}
			if asJSON {
				p.out = io.Discard
			}
			a.conclude(&p, p.examine(ctx, &r, backend.Examination{Idle: time.Duration(idle)}))
			places = append(places, p)
			if ctx.Err() != nil {
				break
			}
		}
		if asJSON {
			return a.out.JSON(map[string]any{"places": places})
		}
		return nil
	}
	return c
}

// conclude settles the verdict on a place, and the exit status.
func (a *app) conclude(p *placeExamined, err error) {
	p.Verdict = backend.Verdict(p.seen)
	if err != nil {
		a.note(err)
		p.Error = err.Error()
		if p.Verdict != backend.Unfit {
			p.Verdict = backend.Unknown
		}
	}
	if p.Verdict == backend.Unfit {
		a.settle(protocol.CannotCreate.Exit())
	}
	p.conclude()
}

// examine tells of each check as it is made.
func (p *placeExamined) examine(ctx context.Context, r *flags.Connect, e backend.Examination) error {
	b, canonical, err := r.Open(p.Place)
	p.Place = canonical
	if err != nil {
		return err
	}
	err = examineInTime(ctx, b, canonical, e, p.add)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
