package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/protocol"
)

func (a *app) reap() *cobra.Command {
	var r flags.Connect
	var asJSON, yes bool
	maxAge, watch := flags.Duration(-1), flags.Duration(time.Minute)
	var reaping backend.Reaping
	c := &cobra.Command{
		Use:   "reap [flags] --max-age AGE PLACE…",
		Short: "Remove by age what was left behind in directories of locks",
		Long: "Look at every lock in PLACE, a directory of mkdir:, ftp: or ftps: locks, and at what\n" +
			"crashed waiters left. What gave no sign of life for AGE, by the server's own clock, is\n" +
			"shown, and with --yes removed; but nothing with a heartbeat that moves, for which each is\n" +
			"watched for a quarter of its lease. Who is proven dead on this machine is removed at once,\n" +
			"whatever AGE. Empty lock directories say nothing of who made them:\n" +
			"choose an AGE longer than any job takes. Where a server tells times to the minute only,\n" +
			"everything counts as a minute younger, and what is an hour old or more as another hour\n" +
			"younger if a night lies between, in which its clock may have skipped one. The exit status\n" +
			"is not 0 if something old enough was to be removed and was not.",
		Example: "  locksmith reap --max-age 6m mkdir:/srv/ftp/locks\n" +
			"  locksmith reap --max-age 6m --yes ftp://loader@ftp.example.org/locks",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return flags.Usagef("need at least one directory of locks")
			}
			return nil
		},
	}
	r.Add(c)
	f := c.Flags()
	f.Var(&maxAge, "max-age", "how old it must at least be")
	f.Var(&watch, "watch", "how long to watch for heartbeats at most; what needs more stays")
	f.StringVar(&reaping.Names, "name", "", "only locks whose name matches this `pattern`, as in '*.lock'")
	f.BoolVar(&yes, "yes", false, "remove it; otherwise only show what would be removed")
	f.BoolVar(&asJSON, "json", false, "print one JSON document")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if !c.Flags().Changed("max-age") {
			return flags.Usagef("--max-age is missing: no default is right for all")
		}
		reaping.MaxAge, reaping.Watch, reaping.Remove = time.Duration(maxAge), time.Duration(watch), yes
		ctx, stop := untilSignal(cmd.Context())
		defer stop()
		places := a.reapAll(ctx, &r, args, reaping)
		if asJSON {
			return a.out.JSON(map[string]any{"places": places})
		}
		for _, p := range places {
			p.print(&a.out)
		}
		return nil
	}
	return c
}

// reapAll goes from place to place, until a signal.
func (a *app) reapAll(ctx context.Context, r *flags.Connect, args []string, reaping backend.Reaping) []placeReaped {
	places := []placeReaped{}
	for _, place := range args {
		p, err := reapPlace(ctx, r, place, reaping)
		a.failReaped(&p, err)
		places = append(places, p)
		if ctx.Err() != nil {
			break
		}
	}
	return places
}

// failReaped reports what went wrong in a place.
func (a *app) failReaped(p *placeReaped, err error) {
	var all []error
	if err != nil {
		p.Error, all = err.Error(), append(all, err)
	}
	for _, s := range p.seen {
		if s.Err != nil {
			all = append(all, s.Err)
		}
	}
	for _, err := range all {
		a.note(err)
	}
}

// placeReaped is one directory of locks in reap --json.
type placeReaped struct {
	Place string   `json:"place"`
	Found []reaped `json:"found"`
	Error string   `json:"error,omitempty"`
	seen  []backend.Reaped
}

type reaped struct {
	Path    string        `json:"path"` // in the directory
	What    string        `json:"what"` // empty lock, holder, waiter or other
	Holder  *holderStatus `json:"holder,omitempty"`
	AgeMS   int64         `json:"age_ms"` // without a sign of life, by the server's clock
	Due     bool          `json:"due"`    // old enough, and no sign that somebody lives; or proven dead
	Removed bool          `json:"removed"`
	Note    string        `json:"note,omitempty"` // why it stays
}

func reapPlace(ctx context.Context, r *flags.Connect, place string, reaping backend.Reaping) (placeReaped, error) {
	b, canonical, err := r.Open(place)
	p := placeReaped{Place: canonical, Found: []reaped{}}
	if err != nil {
		return p, err
	}
	reaper, ok := b.(backend.Reaper)
	if !ok {
		return p, &backend.Error{Code: protocol.Usage, Lock: canonical, Op: "reap",
			Err:  errors.New("locks of this kind heal themselves, but for what other tools left, such as flock(1) its files"),
			Hint: "see who is there with: locksmith list; remove what another tool left with: locksmith break --force LOCK"}
	}
	p.seen, err = reaper.Reap(ctx, reaping)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	for _, s := range p.seen {
		d := reaped{Path: s.Path, What: s.What, AgeMS: s.Age.Milliseconds(), Due: s.Due, Removed: s.Removed, Note: s.Note}
		if s.What == backend.ReapedHolder || s.What == backend.ReapedWaiter {
			h := describe(s.Holder)
			d.Holder = &h
		}
		p.Found = append(p.Found, d)
	}
	return p, err
}

func (p placeReaped) print(out io.Writer) {
	due := 0
	for _, s := range p.seen {
		verdict := "stays: " + s.Note
		switch {
		case s.Removed:
			verdict = "removed"
		case s.Due && s.Note == "":
			verdict = "would be removed"
			due++
		}
		who := ""
		if s.Holder.Record != nil {
			who = ", " + s.Holder.String()
		}
		fmt.Fprintln(out, protocol.CleanText(fmt.Sprintf("%s: %s, silent for %v%s: %s", s.Path, s.What, s.Age.Round(time.Second), who, verdict), protocol.MaxLine))
	}
	if due > 0 {
		fmt.Fprintf(out, "%s: nothing was removed; add --yes to remove %d\n", protocol.CleanText(p.Place, protocol.MaxLine), due)
	}
}
