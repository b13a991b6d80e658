package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/protocol"
)

func (a *app) breakLock() *cobra.Command {
	b := breaking{out: &a.out, clock: clock.Boot{}, watch: flags.Duration(30 * time.Second)}
	c := &cobra.Command{
		Use:   "break [flags] LOCK --id ID",
		Short: "Take a lock from one who holds it or waits for it",
		Long: "Take LOCK from the holder, or the waiter, whose id is ID. Without --id the command fails\n" +
			"and shows who is there. The id names one acquisition: who took the lock meanwhile is not\n" +
			"hit. One that lives, or may live, is left alone unless there is --force: one whose helper\n" +
			"or parent runs on this machine, one whose heartbeat moves, and one that you hold yourself.\n" +
			"Where no proof can be had the heartbeat is watched for a quarter of the lease, that of a\n" +
			"waiter for a directory in plain style for the whole lease. A holder that\n" +
			"lives learns of it at its next heartbeat; until then the lock has two holders. With\n" +
			"--force and without --id, what has no id is removed after a question, such as the empty\n" +
			"file that flock(1) left. The exit status is 75 if it was left alone, and 79 if nobody there\n" +
			"has this id any more.",
		Example: "  locksmith break nfs:/shared/locks/billing\n" +
			"  locksmith break nfs:/shared/locks/billing --id 52b5c646f8a94c0e9a1f0f4b7d1c2e3a",
	}
	b.Connect.Add(c)
	b.File.Add(c)
	f := c.Flags()
	f.StringVar(&b.id, "id", "", "whom to break, as shown without --id")
	f.BoolVar(&b.force, "force", false, "also one that lives")
	f.Var(&b.watch, "watch", "how long to watch its heartbeat at most; what needs more stays")
	f.BoolVar(&b.asJSON, "json", false, "print one JSON document")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		lock, err := b.Lock(args)
		if err != nil {
			return err
		}
		b.args = args
		ctx, stop := untilSignal(cmd.Context())
		defer stop()
		return a.conclusion(&b, b.run(ctx, lock))
	}
	return c
}

// A breaking is one run of break.
type breaking struct {
	flags.Connect
	flags.File
	out    io.Writer
	clock  clock.Clock
	args   []string
	id     string
	force  bool
	watch  flags.Duration
	asJSON bool

	backend backend.Backend
	address string
	result  broken
}

// broken is break --json.
type broken struct {
	Lock   string        `json:"lock"`
	ID     string        `json:"id,omitempty"`
	Role   string        `json:"role,omitempty"` // holder or waiter
	Holder *holderStatus `json:"holder,omitempty"`
	Broken bool          `json:"broken"`
	Forced bool          `json:"forced"`          // it was not asked whether it lives
	State  string        `json:"state,omitempty"` // of the lock after that
	Error  string        `json:"error,omitempty"`
}

// conclusion tells what came of it.
func (a *app) conclusion(b *breaking, err error) error {
	if !b.asJSON {
		return err
	}
	if err != nil {
		b.result.Error = err.Error()
		a.note(err)
	}
	return a.out.JSON(b.result)
}

func (b *breaking) run(ctx context.Context, lock string) error {
	b.result = broken{Lock: lock, ID: b.id}
	var err error
	b.backend, b.address, err = b.Open(lock)
	b.result.Lock = b.address
	if err != nil {
		return err
	}
	s, err := b.look(ctx)
	switch {
	case err != nil:
		return err
	case b.id == "" && b.force && b.nameless(s) != "":
		return b.clear(ctx, s.all()[0])
	case b.id == "":
		return b.offer(s)
	}
	p, ok := s.present(b.id)
	if !ok {
		return b.gone("nobody there has this id")
	}
	b.show(p)
	if err := b.ask(ctx, p); err != nil {
		return err
	}
	return b.end(ctx, p)
}

// look is one look at all who are there.
func (b *breaking) look(ctx context.Context) (lockStatus, error) {
	s := lockStatus{Lock: b.address}
	err := s.look(ctx, b.backend)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return s, err
}

func (b *breaking) show(p presence) {
	d := describe(p.Holder)
	b.result.Role, b.result.Holder = p.role(), &d
	if !b.asJSON {
		fmt.Fprintf(b.out, "%s: %s [%s]%s\n", protocol.CleanText(b.address, protocol.MaxLine), p, p.Verdict, mode(p.Holder))
	}
}

// end breaks it, and looks whether that was the end of it: who waited may have got
// the lock at that moment.
func (b *breaking) end(ctx context.Context, p presence) error {
	_, err := flags.InTime(ctx, b.address, "break "+b.shownID(), func(ctx context.Context) (struct{}, error) {
		return struct{}{}, b.backend.Break(ctx, b.id)
	})
	if err != nil {
		return err
	}
	b.result.Forced, b.result.State = b.force, "unknown"
	s, err := b.look(ctx)
	if err != nil {
		report(err) // but it is broken
	} else if b.result.State = s.State; slices.ContainsFunc(s.all(), func(q presence) bool { return q.ID == b.id }) {
		return b.refuse("it went on at that moment, and is still there", "look again with: locksmith status")
	}
	b.result.Broken = true
	if !b.asJSON {
		fmt.Fprintf(b.out, "%s: broke %s, %s\n", protocol.CleanText(b.address, protocol.MaxLine), b.shownID(), p)
	}
	return nil
}

func (b *breaking) shownID() string { return protocol.CleanText(b.id, 100) }

func (b *breaking) gone(why string) error {
	return &backend.Error{Code: protocol.Gone, Lock: b.address, Op: "break " + b.shownID(), Err: errors.New(why),
		Hint: "see who is there with: locksmith status"}
}

func (b *breaking) refuse(why, hint string) error {
	return &backend.Error{Code: protocol.Held, Lock: b.address, Op: strings.TrimSpace("break " + b.shownID()), Err: errors.New(why), Hint: hint}
}
