package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/cli/term"
	"locksmith/locksmith"
	"locksmith/protocol"
)

// watchFlags say whether to look again and again.
type watchFlags struct {
	watch bool
	every flags.Duration
}

// shortestEvery spares a lock's place.
const shortestEvery = 200 * time.Millisecond

func (w *watchFlags) flags(c *cobra.Command) {
	w.every = flags.Duration(2 * time.Second)
	c.Flags().BoolVar(&w.watch, "watch", false, "look again and again, and show what changes")
	c.Flags().Var(&w.every, "every", "how long to pause between two looks of --watch")
}

func (w *watchFlags) check(c *cobra.Command) error {
	switch {
	case c.Flags().Changed("every") && !w.watch:
		return flags.Usagef("--every goes with --watch")
	case time.Duration(w.every) < shortestEvery:
		return flags.Usagef("--every %v is less than %v", time.Duration(w.every), shortestEvery)
	}
	return nil
}

// onScreen is the display of a terminal.
type onScreen struct {
	*term.Screen
	every time.Duration
}

func (s onScreen) show(seen []lockStatus, at time.Time) error {
	return s.Show(fmt.Sprintf("%s, every %v; Ctrl-C ends this", at.Format(time.TimeOnly), s.every), watchedLines(seen))
}

func (s onScreen) close() { s.Close() }

// A display shows people, or programs, what was seen.
type display interface {
	show(seen []lockStatus, at time.Time) error
	close()
}

// watchStatus looks until it is told to end. Only a wrong command line or configuration
// is an error from the start: all else may pass.
func (a *app) watchStatus(r *flags.Connect, locks []string, every time.Duration, asJSON bool) error {
	var views []*view
	for _, lock := range locks {
		v := &view{connect: r, lock: lock}
		if err := v.open(); isWrong(err) {
			return err
		}
		views = append(views, v)
	}
	ctx, stop := untilUnread(os.Stdout)
	defer stop()
	var d display
	switch {
	case asJSON:
		d = &changes{out: os.Stdout, write: writeJSON}
	case term.CanRedraw(os.Stdout):
		d = onScreen{term.NewScreen(os.Stdout), every}
	default:
		d = &changes{out: os.Stdout, write: writeBlock}
	}
	err := watchLoop(ctx, d, every, func() []lockStatus { return lookAtAll(ctx, views) })
	d.close()
	if ctx.Err() == nil {
		return err
	}
	_, redraws := d.(onScreen)
	if s, ok := errors.AsType[*locksmith.SignalError](context.Cause(ctx)); ok && !(redraws && s.Signal == os.Interrupt) {
		a.settle(exitStatus(s))
	}
	return nil
}

// isWrong tells an error that does not pass.
func isWrong(err error) bool {
	return err != nil && (codeOf(err) == protocol.Usage || codeOf(err) == protocol.Config)
}

func lookAtAll(ctx context.Context, views []*view) (seen []lockStatus) {
	for _, v := range views {
		seen = append(seen, v.look(ctx))
	}
	return seen
}

// watchLoop looks, shows it, pauses, and so on, until ctx ends or nothing can be shown.
func watchLoop(ctx context.Context, d display, every time.Duration, look func() []lockStatus) error {
	seen := make(chan []lockStatus, 1)
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
			if err := d.show(s, time.Now()); err != nil {
				return fmt.Errorf("write what was seen: %w", err)
			}
			next.Reset(every)
		case <-ctx.Done():
			return nil
		}
	}
}
