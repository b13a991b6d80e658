package cli

import (
	"context"
	"errors"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/cli/request"
	"locksmith/cmd/locksmith/cli/show"
)

func (a *app) reap() *cobra.Command {
	var r request.Connect
	var asJSON, quiet bool
	reaping := backend.Reaping{MaxAge: -1, Watch: time.Minute}
	c := &cobra.Command{
		Use:   "reap [flags] --max-age AGE PLACE…",
		Short: "Remove by age what was left behind in directories of locks",
		Long: whichOfThree + "Look at every lock in PLACE, a directory of mkdir:, ftp: or ftps: locks, and at what crashed waiters\n" +
			"and a killed doctor left there. Show all that gave no sign of life for AGE; with --yes remove it. A\n" +
			"holder whose heartbeat moves stays: each that has one is watched for a quarter of its lease. A\n" +
			"holder that is proven dead on this machine is removed whatever AGE says. An empty lock directory\n" +
			"does not tell who made it: choose an AGE longer than any job takes. With --yes ages are by the\n" +
			"server's own clock, for which reap makes a directory in PLACE for a moment. Without --yes it makes\n" +
			"nothing: ages are by this machine's clock, and at an FTP server may be shown too young. If a server\n" +
			"tells times to the minute only, reap takes everything for a minute younger. If a night lies between,\n" +
			"in which the server's clock may have skipped an hour, reap takes what is an hour old or more for an\n" +
			"hour younger. The exit status is not 0 if something old enough could not be removed.",
		Example: "  locksmith reap --max-age 6m mkdir:/srv/ftp/locks\n" +
			"  */5 * * * *  locksmith reap --quiet --max-age 6h --yes ftp://loader@ftp.example.org/locks",
		Args: atLeastOne("directory of locks"),
	}
	r.Add(c, a.self)
	f := c.Flags()
	f.Var(flags.Duration(&reaping.MaxAge), "max-age", "how old it must at least be")
	f.Var(flags.Duration(&reaping.Watch), "watch", "how long to watch for heartbeats at most; what needs more stays")
	f.StringVar(&reaping.Names, "name", "", "only locks whose name matches this `pattern`, as in '*.lock'")
	f.BoolVar(&reaping.Remove, "yes", false, "remove it; otherwise only show what would be removed")
	f.BoolVarP(&quiet, "quiet", "q", false, "tell only of what is or would be removed, or should be: nothing if all is well")
	f.BoolVar(&asJSON, "json", false, "print one JSON document")
	c.RunE = interruptible(func(ctx context.Context, args []string) error {
		places := []*show.Reaped{}
		if !c.Flags().Changed("max-age") {
			err := flags.Usagef("--max-age is missing: no default is right for all")
			if !asJSON {
				return err
			}
			for _, place := range args {
				_, canonical, _ := r.OpenPlace(place)
				places = append(places, show.NewReaped(canonical, nil, err))
			}
			return errors.Join(err, a.out.JSON(map[string]any{"places": places}))
		}
		for _, place := range args {
			places = append(places, a.reapPlace(ctx, &r, place, reaping))
			if ctx.Err() != nil {
				break
			}
		}
		if asJSON {
			return a.out.JSON(map[string]any{"places": places})
		}
		for i, p := range places {
			one := ""
			if !reaping.Remove && reaping.Names == "" {
				one = reapOne(c.Flags(), args[i])
			}
			p.Print(&a.out, quiet, reapCommand(c.Flags(), args[i], reaping.Names), one)
		}
		return nil
	})
	return c
}

// reapPlace tells what went wrong in a place, and returns what was found.
func (a *app) reapPlace(ctx context.Context, r *request.Connect, place string, reaping backend.Reaping) *show.Reaped {
	canonical, found, err := reapIn(ctx, r, place, reaping)
	if err != nil {
		a.note(err)
	}
	for _, f := range found {
		if f.Err != nil {
			a.note(f.Err)
		}
	}
	return show.NewReaped(canonical, found, err)
}

func reapIn(ctx context.Context, r *request.Connect, place string, reaping backend.Reaping) (canonical string, found []backend.Reaped, err error) {
	b, canonical, err := r.OpenPlace(place)
	if err != nil {
		return canonical, nil, err
	}
	search, err := finder.In(ctx, b)
	if err == nil {
		defer search.Close()
	}
	switch {
	case search.Reap == nil:
		return canonical, nil, backend.Name(canonical).Usage("reap",
			"locks of this kind heal themselves, but for what other tools left, such as flock(1) its files",
			"see who is there with: locksmith list; remove what another tool left with: locksmith break --force LOCK")
	case err == nil:
		found, err = search.Reap(ctx, reaping)
	}
	return canonical, found, r.NotAPlace(place, canonical, orCause(ctx, err))
}

// reapCommand is the command line that does this reap with --yes in a place, for the names of a pattern.
func reapCommand(given *pflag.FlagSet, place, names string) string {
	words := []string{"locksmith", "reap", "--yes"}
	given.Visit(func(f *pflag.Flag) {
		if f.Name != "yes" && f.Name != "quiet" && f.Name != "name" {
			words = append(words, quoted("--"+f.Name+"="+f.Value.String()))
		}
	})
	if names != "" {
		words = append(words, quoted("--name="+names))
	}
	return strings.Join(append(words, quoted(place)), " ")
}

// reapOne says what to do if the place is a lock itself; "" if its name is no plain pattern.
func reapOne(given *pflag.FlagSet, lock string) string {
	dir, name := path.Split(lock)
	if dir == "" || name == "" || strings.ContainsAny(name, `%*?[\`) {
		return ""
	}
	return "; if it is itself a lock that nobody has: " + reapCommand(given, dir, name)
}
