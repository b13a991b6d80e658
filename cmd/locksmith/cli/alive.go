package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"locksmith/backends/clock"
	"locksmith/backends/condition"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/cmd/locksmith/cli/advice"
	"locksmith/cmd/locksmith/cli/show"
)

// ask finds out whether somebody may be broken. It returns nil if it is dead, or was silent for
// a whole lease; with --force always.
func (b *breaking) ask(ctx context.Context, p show.Participant) error {
	if b.leftBy.Given {
		return b.askParent(p)
	}
	if b.force {
		return nil
	}
	why, isHelper := advice.Life(p.Holder)
	if p.OfKernel {
		why = cmp.Or(why, "the kernel keeps it")
	}
	if why != "" {
		return b.refuse(why, b.instead(p, isHelper))
	}
	if condition.Of(p.Holder).IsDead() {
		return nil
	}
	return b.observe(ctx, p)
}

// askParent is ask for the program for which the lock was held, and which says that it has
// stopped the work. It says nothing of a helper that may live, nor of another program's lock.
func (b *breaking) askParent(p show.Participant) error {
	parent, err := process.Find(int(b.leftBy.Value))
	if err == nil && p.Record != nil && p.Record.LeftBy(owner.Here(), parent) {
		return nil
	}
	return b.refuse(fmt.Sprintf("it is not proven that its helper is dead and held the lock for process %d", b.leftBy.Value),
		"leave out --left-by to have it judged as anybody's")
}

// instead says what to do about somebody that lives. The kernel keeps a lock of local: for a
// helper, even against --force.
func (b *breaking) instead(p show.Participant, isHelper bool) string {
	const force = "break it all the same with --force"
	switch {
	case p.OfKernel:
		return p.EndingKept()
	case isHelper && strings.HasPrefix(b.address, "local:"):
		return advice.Ending(p.Record)
	case isHelper && len(p.Record.Stopped()) > 0:
		return advice.Ending(p.Record) + "; or " + force
	}
	return "let it end, or " + force
}

// observe watches the heartbeat until its lease is over.
func (b *breaking) observe(ctx context.Context, p show.Participant) error {
	need := b.silence(p)
	switch {
	case p.Sign == "":
		return b.refuse("nothing tells whether it lives", "make sure that it does not, then break it with --force")
	case p.Silent >= need:
		return nil // others of this user have watched it
	case b.watch > 0 && need > b.watch+p.Silent:
		return b.refuse(fmt.Sprintf("it must be watched for %v, until its lease is over", inSeconds(need-p.Silent)),
			"leave out --watch, or break it all the same with --force")
	case !b.asJSON:
		fmt.Fprintf(os.Stderr, "locksmith: watching for %v, until its lease is over, whether it lives\n", inSeconds(need-p.Silent))
	}
	for start := b.clock.Now() - p.Silent; ; {
		clock.Sleep(ctx, b.clock, pauseBetween(need, b.clock.Now()-start))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		before := b.clock.Now()
		s, err := look(ctx, b.address, b.backend)
		if err != nil {
			return err
		}
		now, ok := s.Find(b.id)
		switch {
		case !ok:
			return b.gone("it ended by itself while it was watched")
		case now.Waits != p.Waits:
			return b.refuse("it lives: it got the lock while it was watched", "let it end, or break it all the same with --force")
		case now.Sign != p.Sign:
			return b.refuse("it lives: its heartbeat moves", "let it end, or break it all the same with --force")
		case condition.Of(now.Holder).IsDead() || before-start >= need:
			return nil
		}
	}
}

// silence is for how long somebody must be seen silent if nothing proves its death: a whole
// lease, as for a waiter. Some waiters may be silent for longer. If the lease is not known,
// --watch says how long, or the usual lease.
func (b *breaking) silence(p show.Participant) time.Duration {
	if p.Lease == 0 && b.watch > 0 {
		return b.watch
	}
	usual, _ := b.kinds.Timing(b.address)
	need := owner.WholeLease(cmp.Or(p.Lease, usual.Lease, owner.UsualLease))
	if p.Silence > p.Lease {
		need = max(need, p.LateAfter())
	}
	return need
}

// pauseBetween is the pause between two looks of a watch.
func pauseBetween(need, passed time.Duration) time.Duration {
	return max(min(need-passed, max(need/8, 250*time.Millisecond), 10*time.Second), time.Millisecond)
}

// inSeconds rounds up, for people.
func inSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

// tellRest tells, after a holder was broken that may live, for how long what it guards may still
// run.
func (b *breaking) tellRest(p show.Participant) {
	left, text := rest(p)
	if left >= 0 {
		ms := left.Milliseconds()
		b.result.MayRunMS = &ms
	}
	if text != "" {
		b.tell("%s: %s\n", show.Text(b.address), text)
	}
}

// rest is for how long what somebody guards may still run after the break, and that in words. It
// is less than 0 if nothing tells. A living helper ends what it guards, or tells its parent,
// before its lease is over.
func rest(p show.Participant) (left time.Duration, text string) {
	left = max(p.Lease-p.Silent, 0)
	state := condition.Of(p.Holder)
	switch {
	case p.Waits, state.IsDead():
		return 0, ""
	case state.Condition == condition.LeftOver:
		return -1, "its helper is dead, and nothing ends what its command left running"
	case p.Lease == 0:
		return -1, "nothing tells for how long what it guards may still run"
	case left == 0:
		return 0, "its lease is over; what it guards still runs only if its helper is stopped or gone"
	}
	return left, fmt.Sprintf("what it guards may still run for %v, until its lease is over; for longer if its helper is stopped or gone", inSeconds(left))
}
