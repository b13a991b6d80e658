package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/cli/request"
	"locksmith/cmd/locksmith/cli/show"
	"locksmith/cmd/locksmith/memory"
	"locksmith/protocol"
)

func (a *app) doctor() *cobra.Command {
	var r request.Connect
	var asJSON bool
	idle, rounds := 20*time.Second, flags.Number{Value: 200, Least: 1, Most: maxRounds}
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
		Args: atLeastOne("address"),
	}
	r.Add(c, a.self)
	f := c.Flags()
	f.Var(flags.Duration(&idle), "idle", "how long to leave a connection to a server idle, to see whether it is closed")
	f.Var(&rounds, "rounds", "how often many create the same object at the same time, in an object store")
	f.BoolVar(&asJSON, "json", false, "print one JSON document")
	c.RunE = interruptible(func(ctx context.Context, args []string) error {
		if idle < 0 {
			return flags.Usagef("--idle cannot be negative")
		}
		people := io.Writer(&a.out)
		if asJSON {
			people = io.Discard
		}
		places := []*show.Examined{}
		for _, place := range args {
			e := show.NewExamined(place, people)
			a.conclude(e, examine(ctx, &r, e, backend.Examination{Idle: idle, Rounds: int(rounds.Value), Progress: progress(os.Stderr)}))
			places = append(places, e)
			if ctx.Err() != nil {
				break
			}
		}
		if asJSON {
			return a.out.JSON(map[string]any{"places": places})
		}
		return nil
	})
	return c
}

// progressPause is how often people are told that a long check goes on.
const progressPause = 5 * time.Second

// progress tells people how far a check is, first after a while, and then every so often.
func progress(people io.Writer) func(string) {
	told := time.Now()
	return func(text string) {
		if time.Since(told) >= progressPause {
			told = time.Now()
			fmt.Fprintf(people, "locksmith: %s\n", show.Text(text))
		}
	}
}

// examine tells of each check as it is made.
func examine(ctx context.Context, r *request.Connect, e *show.Examined, how backend.Examination) error {
	b, canonical, err := r.Open(e.Place)
	e.Place = canonical
	if err != nil {
		return err
	}
	err = examineDetached(ctx, b, canonical, how, e.Tell)
	if why := memory.Trial(); err == nil && why != nil && !r.Leaseless(canonical) {
		backend.Tell(e.Tell).Weak("what tries remember", "short tries of this user tell of a silent holder, and do not break it, because they cannot remember it: "+backend.Reason(why),
			"let each try wait for longer than the lease, as with -w 2m, or give this user a home that lasts")
	}
	return orCause(ctx, err)
}

const (
	// checkTime is how long a single check may take, apart from its waiting.
	checkTime = 2 * time.Minute
	// roundTime is how much more it may take for each of its rounds.
	roundTime = time.Second
	maxRounds = 1_000_000
)

// examineDetached leaves an examination behind that hangs. At the end of ctx it waits: the
// examination removes what it made then.
func examineDetached(ctx context.Context, b backend.Backend, place string, e backend.Examination, tell backend.Tell) error {
	limit := checkTime + e.Idle + time.Duration(e.Rounds)*roundTime
	late := noAnswer(place, "examine", limit)
	late.Hint += "; what the checks made may still be there"
	return follow(context.WithoutCancel(ctx), limit, late, func(_ context.Context, step func(), tell func(backend.Check)) error {
		step()
		return b.Examine(ctx, e, func(c backend.Check) { tell(c); step() })
	}, tell)
}

// conclude settles the verdict on a place, and the exit status.
func (a *app) conclude(e *show.Examined, err error) {
	if err != nil {
		a.note(err)
	}
	if e.Conclude(err); e.Verdict == backend.Unfit {
		a.settle(protocol.CannotCreate.Exit())
	}
}
