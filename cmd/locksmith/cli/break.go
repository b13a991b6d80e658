package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locksmith/backends"
	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/process"
	"locksmith/cmd/locksmith/cli/advice"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/cli/request"
	"locksmith/cmd/locksmith/cli/show"
	"locksmith/cmd/locksmith/cli/term"
	"locksmith/protocol"
)

func (a *app) breakLock() *cobra.Command {
	b := breaking{out: &a.out, clock: clock.Boot{}, kinds: a.self.Kinds}
	c := &cobra.Command{
		Use:   "break [flags] LOCK --id ID",
		Short: "Take a lock from one who holds it or waits for it",
		Long: whichOfThree + "Break the holder, or the waiter, whose id is, or begins with, ID. An id names one acquisition:\n" +
			"whoever took the lock meanwhile is not hit. Without --id and --force the command is status: it\n" +
			"shows who is there.\n" +
			"Without --force a holder is left alone if its helper or parent runs on this machine, if its\n" +
			"heartbeat moves, or if you are the holder. If nothing proves that it is dead, break watches its\n" +
			"heartbeat until its lease is over, as a waiter would; earlier tries and looks of yours count.\n" +
			"With --force break does not watch. A holder that lives learns of that at its next heartbeat. Until\n" +
			"then the lock has two holders, and break says how long that may take. With --force and without\n" +
			"--id break asks, and removes what has no id, such as the empty file that flock(1) left at a local:\n" +
			"lock. It cannot take a lock of flock: from a process, for that is the kernel's: it says who has\n" +
			"it, and what ends that.\n" +
			"With nfs:, sftp:, s3:, etcd: and ?style=dir a note stays: who broke a holder, on which host, when,\n" +
			"with --force or not, and --reason. The holder that lost the lock shows it, and so does status. The\n" +
			"exit status is 75 if the holder was left alone, and 79 if nobody there has this id any more.",
		Example: "  locksmith break nfs:/shared/locks/billing\n" +
			"  locksmith break nfs:/shared/locks/billing --id 52b5c646f8a94c0e9a1f0f4b7d1c2e3a",
	}
	b.Add(c, a.self)
	f := c.Flags()
	f.StringVar(&b.id, "id", "", "whom to break, as shown without --id; its first characters suffice, 4 at least")
	b.leftBy = flags.Number{Least: 1, Most: process.MaxPID}
	f.Var(&b.leftBy, "left-by", "only if its helper is dead and held it for the process `pid`, which has stopped its work (for that process's use)")
	f.BoolVar(&b.force, "force", false, "break also a holder that lives, at once")
	f.Var(flags.Duration(&b.watch), "watch", "how long to watch its heartbeat at most; what needs more stays (default: until its lease is over)")
	f.StringVar(&b.reason, "reason", "", "why, as a `text` of 200 bytes at most, for the note beside the lock and for --events")
	f.Var(&b.events, "events", "append that it was broken to this file, as a line of JSON, or to descriptor N: fd:N (see also timeline)")
	f.BoolVar(&b.asJSON, "json", false, "print one JSON document")
	c.RunE = interruptible(func(ctx context.Context, args []string) error {
		lock, err := b.Lock(args)
		if err != nil {
			return err
		}
		b.args, b.bare = args, !slices.ContainsFunc([]string{"id", "force", "left-by", "reason", "events", "watch"}, f.Changed)
		return a.conclusion(&b, b.run(ctx, lock))
	})
	return c
}

// A breaking is one run of break.
type breaking struct {
	request.Named
	out    io.Writer
	clock  clock.Clock
	kinds  backends.Kinds
	args   []string
	bare   bool // no flag says what to do: the command is status
	id     string
	force  bool
	leftBy flags.Number  // --left-by
	watch  time.Duration // --watch; 0: until the lease is over
	reason string
	events flags.Events
	asJSON bool

	backend backend.Backend
	address string
	result  broken
}

// broken is break --json.
type broken struct {
	Lock     string       `json:"lock"`
	ID       string       `json:"id,omitempty"`
	Role     string       `json:"role,omitempty"` // holder or waiter
	Holder   *show.Holder `json:"holder,omitempty"`
	Broken   bool         `json:"broken"`
	Forced   bool         `json:"forced"`               // nobody checked whether it lives
	Noted    bool         `json:"noted"`                // a note of it is beside the lock
	MayRunMS *int64       `json:"may_run_ms,omitempty"` // for how long what it guards may still run, by its lease; missing if nothing tells
	State    string       `json:"state,omitempty"`      // of the lock after the break
	Error    string       `json:"error,omitempty"`
}

// conclusion tells the outcome.
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
	if err := b.events.Apart(b.address); err != nil {
		return err
	}
	s, err := look(ctx, b.address, b.backend)
	if err != nil {
		return err
	}
	all := s.All()
	switch {
	case len(all) == 0 && s.Error != "":
		b.result.State = s.State
		return b.refuse("whether anybody has it is not known: "+s.Error, "see on the host that may hold it")
	case b.id != "":
	case len(all) == 0:
		b.result.State = s.State
		b.tell("%s: there is nobody to break: the lock is %s\n", show.Text(b.address), s.State)
		return nil
	case b.force && !b.leftBy.Given && len(all) == 1 && all[0].ID == "" && all[0].Sign != "":
		return b.clear(ctx, all[0])
	case b.bare:
		b.result.State = s.State
		tell := b.tell
		if b.asJSON {
			tell = tellError
		}
		b.list(s, tell)
		return nil
	case !slices.ContainsFunc(all, func(p show.Participant) bool { return !p.OfKernel }):
		b.list(s, tellError)
		return b.refuse("the kernel keeps it, and nobody else can take it", "end what has it")
	default:
		return b.offer(s)
	}
	p, err := b.meant(all)
	if err != nil {
		return err
	}
	b.found(p)
	if err := b.ask(ctx, p); err != nil {
		return err
	}
	return b.end(ctx, p, "broke "+protocol.CleanText(b.id, 100)+", "+p.String())
}

// leastID is how much of an id must be given.
const leastID = 4

// meant finds the participant whose id, or its beginning, is given.
func (b *breaking) meant(all []show.Participant) (show.Participant, error) {
	some := slices.DeleteFunc(slices.Clone(all), func(p show.Participant) bool {
		return p.ID != b.id && (len(b.id) < leastID || !strings.HasPrefix(p.ID, b.id))
	})
	switch len(some) {
	case 0:
		return show.Participant{}, b.gone("nobody there has this id")
	case 1:
		b.id, b.result.ID = some[0].ID, some[0].ID
		return some[0], nil
	}
	return show.Participant{}, flags.Usagef("%s: the ids of %d begin with %s: give more of one", b.address, len(some), protocol.CleanText(b.id, 100))
}

// offer shows who is there, and how to break each.
func (b *breaking) offer(s show.Lock) error {
	b.list(s, tellError)
	return flags.Usagef("--id is missing or empty: say with it which of those above to break")
}

// list tells who is there, as status does, and the id of each.
func (b *breaking) list(s show.Lock, tell func(format string, args ...any)) {
	x := advice.Adviser{Waiters: s.CountWaiters(), Command: b.command}
	for _, p := range s.All() {
		tell("%s\n", p.Line(b.address))
		answer := x.Explain(p)
		lines := answer.Lines()
		if answer.Do != b.command("--id", p.ID) && p.ID != "" {
			lines = append([]string{"its id is " + p.ID}, lines...)
		}
		for _, line := range lines {
			tell("    %s\n", show.Text(line))
		}
	}
}

func tellError(format string, args ...any) { fmt.Fprintf(os.Stderr, format, args...) }

// command is the command line that breaks a participant; more says which.
func (b *breaking) command(more ...string) string {
	return advice.BreakCommand(&b.Named, b.args, more...)
}

// quoted is a word as a shell reads it.
func quoted(word string) string { return backend.ShellWord(word) }

// clear removes what has no id, such as another tool's file, if the user says yes to what is
// shown.
func (b *breaking) clear(ctx context.Context, p show.Participant) error {
	b.found(p)
	yes, err := term.Confirm(ctx, show.Text(b.address)+": it has no id, and who made it may still use it: remove it?")
	switch {
	case err != nil:
		return err
	case !yes:
		return b.refuse("it was not confirmed", "answer yes to remove it")
	}
	return b.end(ctx, p, "removed it")
}

// end breaks a participant, and looks what has become of the lock: a waiter may have got it at
// that moment. done says in words what was done.
func (b *breaking) end(ctx context.Context, p show.Participant, done string) error {
	_, err := withDeadline(ctx, b.address, p.BreakOp(), func(ctx context.Context) (struct{}, error) {
		return struct{}{}, backend.Break(ctx, b.backend, backend.Name(b.address), p.Holder)
	})
	if err != nil {
		return err
	}
	r := b.record(ctx, p)
	s, err := look(ctx, b.address, b.backend)
	b.result.Forced, b.result.State = b.force, s.State
	if err != nil {
		report(err) // but it is broken
	} else if _, still := s.Find(b.id); still && b.id != "" {
		return b.refuse("it went on at that moment, and is still there", "look again with: locksmith status "+quoted(b.address))
	}
	b.result.Broken = true
	b.tell("%s: %s\n", show.Text(b.address), done)
	if !b.force {
		p.Silent = max(p.Silent, p.Lease) // it was watched, unless it is proven dead
	}
	if !b.leftBy.Given { // that process says that its work has stopped
		b.tellRest(p)
	}
	b.tellRecord(ctx, r)
	return nil
}

// found notes which holder or waiter is meant.
func (b *breaking) found(p show.Participant) {
	b.result.Role, b.result.Holder = p.Role(), show.NewHolder(p.Holder)
	b.tell("%s%s\n", p.Line(b.address), p.Mode())
}

// tell tells people.
func (b *breaking) tell(format string, args ...any) {
	if !b.asJSON {
		fmt.Fprintf(b.out, format, args...)
	}
}

// op is the operation in errors.
func (b *breaking) op() string { return strings.TrimSpace("break " + protocol.CleanText(b.id, 100)) }

func (b *breaking) gone(why string) error {
	return &backend.Error{Code: protocol.Gone, Lock: b.address, Op: b.op(), Err: errors.New(why),
		Hint: "see who is there with: locksmith status " + quoted(b.address)}
}

func (b *breaking) refuse(why, hint string) error {
	return &backend.Error{Code: protocol.Held, Lock: b.address, Op: b.op(), Err: errors.New(why), Hint: hint}
}
