package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"locksmith/backends/backend"
	"locksmith/backends/detached"
	"locksmith/cmd/locksmith/cli/advice"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/cli/request"
	"locksmith/cmd/locksmith/cli/show"
	"locksmith/locksmith"
	"locksmith/protocol"
)

// shortestEvery is the shortest pause between two looks, to spare the place of the lock.
const shortestEvery = 200 * time.Millisecond

// looking is one run of status.
type looking struct {
	request.Named
	asJSON, watch bool
	every         time.Duration
}

func (a *app) statusCommand() *cobra.Command {
	l := looking{every: 2 * time.Second}
	c := &cobra.Command{
		Use:   "status [flags] LOCK…",
		Short: "Show who holds a lock",
		Long: "Show for each LOCK who holds it and who waits for it. With --watch look again and again: on a\n" +
			"terminal show the newest look in place, until Ctrl-C; elsewhere write what changed, if it is not a\n" +
			"time alone, until a signal comes or nobody reads it any more. A look that fails is shown, too. At\n" +
			"an FTP server each look is a login.",
		Example: "  locksmith status local:/var/lock/billing\n" +
			"  locksmith status --watch nfs:/shared/locks/billing nfs:/shared/locks/stock",
		Args: func(_ *cobra.Command, args []string) error {
			_, err := l.Locks(args)
			return err
		},
	}
	l.Add(c, a.self)
	f := c.Flags()
	f.BoolVar(&l.watch, "watch", false, "look again and again, and show what changes")
	f.Var(flags.Duration(&l.every), "every", "how long to pause between two looks of --watch")
	f.BoolVar(&l.asJSON, "json", false, "print one JSON document; with --watch one line for each change")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case f.Changed("every") && !l.watch:
			return flags.Usagef("--every goes with --watch")
		case l.every < shortestEvery:
			return flags.Usagef("--every %v is less than %v", l.every, shortestEvery)
		}
		locks, err := l.Locks(args)
		if err != nil {
			return err
		}
		if l.watch {
			return a.watchStatus(&l, locks)
		}
		return a.showStatus(cmd.Context(), &l, locks)
	}
	return c
}

// showStatus looks once at each lock.
func (a *app) showStatus(ctx context.Context, l *looking, locks []string) error {
	seen := []show.Lock{}
	for _, lock := range locks {
		v := view{connect: &l.Connect, lock: lock}
		s, err := v.look(ctx)
		if err != nil {
			a.note(err)
		}
		seen = append(seen, s)
	}
	if l.asJSON {
		return a.out.JSON(map[string]any{"locks": seen})
	}
	for _, s := range seen {
		s.Print(&a.out)
	}
	return nil
}

// watchStatus looks until it is told to end. From the start only a wrong command line or
// configuration is an error: all else may pass.
func (a *app) watchStatus(l *looking, locks []string) error {
	var views []*view
	for _, lock := range locks {
		v := &view{connect: &l.Connect, lock: lock}
		if err := v.open(); err != nil && (codeOf(err) == protocol.Usage || codeOf(err) == protocol.Config) {
			if !l.asJSON {
				return err
			}
			refused := show.NewLock(v.address, nil)
			refused.Error = err.Error()
			return errors.Join(err, show.NewWatch(os.Stdout, l.every, true).Show([]show.Lock{refused}, time.Now()))
		}
		views = append(views, v)
	}
	ctx, stop := untilUnread(os.Stdout)
	defer stop()
	w := show.NewWatch(os.Stdout, l.every, l.asJSON)
	err := watchLoop(ctx, w, l.every, func() []show.Lock { return lookAtAll(ctx, views) })
	w.Close()
	if ctx.Err() == nil {
		return err
	}
	if s, ok := errors.AsType[*locksmith.SignalError](context.Cause(ctx)); ok && !(show.InPlace(w) && s.Signal == os.Interrupt) {
		a.settle(exitStatus(s))
	}
	return nil
}

// watchLoop looks, shows what it saw, pauses, and so on, until ctx ends or nothing can be shown.
func watchLoop(ctx context.Context, w show.Watch, every time.Duration, look func() []show.Lock) error {
	seen := make(chan []show.Lock, 1)
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-next.C:
			go func() { seen <- look() }()
		case s := <-seen:
			if ctx.Err() != nil {
				return nil
			}
			if err := w.Show(s, time.Now()); err != nil {
				return fmt.Errorf("write what was seen: %w", err)
			}
			next.Reset(every)
		case <-ctx.Done():
			return nil
		}
	}
}

func lookAtAll(ctx context.Context, views []*view) (seen []show.Lock) {
	for _, v := range views {
		s, _ := v.look(ctx)
		seen = append(seen, s)
	}
	return seen
}

// A view is a lock that is looked at again and again, but never twice at a time. If a look
// hangs, as on a dead server, the next one begins when that has come back.
type view struct {
	connect *request.Connect
	lock    string // as it was given
	address string
	backend backend.Backend // nil until it was opened
	looks   detached.Line
}

// open finds the lock and its password. That may become possible later.
func (v *view) open() (err error) {
	if v.backend == nil {
		v.backend, v.address, err = v.connect.Open(v.lock)
	}
	return err
}

// look is one look at the lock, with the error on record.
func (v *view) look(ctx context.Context) (show.Lock, error) {
	err := v.open()
	s := show.NewLock(v.address, nil)
	var r backend.Report
	if err == nil {
		r, err = inLine(ctx, &v.looks, v.address, lookOp, inspecting(v.address, v.backend))
	}
	if err != nil {
		s.Error = err.Error()
		return s, err
	}
	s.Take(r)
	s.Explain(v.explain(len(r.Waiters)))
	return s, nil
}

// explain tells of those of whom there is more to say than that they hold or wait.
func (v *view) explain(waiters int) func(show.Participant) []string {
	x := advice.Adviser{Waiters: waiters, Command: func(more ...string) string {
		return advice.BreakCommand(&request.Named{Connect: *v.connect}, []string{v.lock}, more...)
	}}
	return func(p show.Participant) []string {
		if x.IsUsual(p) {
			return nil
		}
		return x.Explain(p).Lines()
	}
}
