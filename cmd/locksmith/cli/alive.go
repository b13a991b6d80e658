package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/cmd/locksmith/cli/caller"
	"locksmith/cmd/locksmith/cli/show"
)

// ask finds out whether one may be broken: nil if it is dead, or silent for long
// enough; with --force always.
func (b *breaking) ask(ctx context.Context, p show.Participant) error {
	if b.force {
		return nil
	}
	if why, _ := life(p.Holder); why != "" {
		return b.refuse(why, "let it end, or break it all the same with --force")
	}
	if p.Verdict == owner.Dead {
		return nil
	}
	return b.observe(ctx, p)
}

// life is a proof that one lives, or "". isHelper says that it is the helper of its record, so that
// ending that one helps.
func life(h backend.Holder) (why string, isHelper bool) {
	if r := h.Record; r != nil {
		lives, visible := r.Lives(owner.Here())
		for _, p := range []process.Process{r.Helper, r.Parent} {
			if visible && isAncestor(p) {
				return fmt.Sprintf("that is you: this command runs below pid %d, which has it", p.PID), false
			}
		}
		switch {
		case visible && lives == r.Helper:
			return fmt.Sprintf("it is alive: its helper, pid %d, runs on this machine", lives.PID), true
		case visible && lives == r.Parent:
			return fmt.Sprintf("it may be alive: its helper is gone, but its parent, pid %d, runs on this machine", lives.PID), false
		case visible:
			return fmt.Sprintf("it may be alive: its helper, pid %d, is gone, but what its command started may still run on this machine", lives.PID), false
		}
	}
	if h.Verdict == owner.Alive {
		return fmt.Sprintf("it is alive: pid %d runs on this machine", h.PID), false
	}
	return "", false
}

// isAncestor leaves out the first process, which is everybody's.
func isAncestor(p process.Process) bool { return p.PID > 1 && caller.HasAncestor(p) }

// observe watches the heartbeat for as long as it may be silent.
func (b *breaking) observe(ctx context.Context, p show.Participant) error {
	need := b.silence(p)
	switch {
	case p.Sign == "":
		return b.refuse("nothing tells whether it lives", "make sure that it does not, then break it with --force")
	case p.Silent >= need:
		return nil // others of this user have watched it
	case need > b.watch:
		return b.refuse(fmt.Sprintf("it must be watched for %v, because it may be silent for so long", need),
			fmt.Sprintf("watch it with --watch %v, or break it all the same with --force", need))
	}
	if !b.asJSON {
		fmt.Fprintf(os.Stderr, "locksmith: watching for %v whether it lives\n", need)
	}
	for start := b.clock.Now(); ; {
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
		case now.Verdict == owner.Dead || before-start >= need:
			return nil
		}
	}
}

// silence is how long one that lives may give no sign of life: a quarter of its
// lease, if it does not say itself that it refreshes its lock more often, and something
// more for one that is slow. What is usual for the kind of lock does not tell: --refresh
// may have said otherwise. Some waiters are silent for longer.
func (b *breaking) silence(p show.Participant) time.Duration {
	if p.Lease == 0 {
		return b.watch
	}
	most := cmp.Or(p.Silence, p.Lease/4)
	if r := p.Record; !p.Waits && r != nil && r.Refresh > 0 { // waiters have a pace of their own
		most = min(most, 3*r.Refresh)
	}
	return (most + most/25 + time.Second).Round(time.Second)
}

// pauseBetween is how long to leave alone what is watched, between two looks.
func pauseBetween(need, passed time.Duration) time.Duration {
	return max(min(need-passed, max(need/8, 250*time.Millisecond), 10*time.Second), time.Millisecond)
}
