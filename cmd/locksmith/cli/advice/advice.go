// Package advice tells people why somebody has a lock, and the one thing that safely ends that.
package advice

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/condition"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/cmd/locksmith/cli/programs"
	"locksmith/cmd/locksmith/cli/request"
	"locksmith/cmd/locksmith/cli/show"
)

// An Adviser speaks of those who have one lock, or wait for it. status and break say the same.
type Adviser struct {
	Waiters int
	Command func(more ...string) string // the command line of break for this lock
}

// Explain returns lines about somebody, of which the last may be a command of ours. status says
// nothing more of a participant that just holds the lock or waits for it.
func (x Adviser) Explain(p show.Participant) []string {
	why, isHelper := Life(p.Holder)
	state := condition.Of(p.Holder)
	switch {
	case p.OfKernel && strings.HasPrefix(why, thatIsYou):
		return []string{why}
	case p.OfKernel:
		return []string{p.EndingKept()}
	case p.ID == "" && p.Sign == "":
		return []string{"it has no id: nothing but removing it by hand ends it"}
	case p.ID == "" && state.Proven:
		return []string{cmp.Or(why, "it lives") + "; let it end, or, if it does not use the lock:", x.Command("--force")}
	case p.ID == "":
		return []string{x.Command("--force")}
	case isHelper:
		return []string{why + "; " + Ending(p.Record)}
	case why != "":
		return []string{x.ofLeft(p, state, why)}
	case state.IsDead():
		return []string{"it is dead: whoever comes next takes the lock", x.Command("--id", p.ID)}
	}
	why, beats := x.elsewhere(p, state)
	switch {
	case beats:
		return []string{why}
	case why == "":
		return []string{x.Command("--id", p.ID)}
	}
	return []string{why, x.Command("--id", p.ID)}
}

// IsUsual reports whether somebody does what holders and waiters do, as far as can be seen.
func (x Adviser) IsUsual(p show.Participant) bool {
	state := condition.Of(p.Holder)
	switch {
	case p.ID == "": // its advice, which is told with it, says what to do
		return true
	case state.IsBlocked():
		return p.Sign == "" || p.Advice != "" // its advice is told with it
	case state.Condition == condition.Stopped:
		return false
	}
	return state.Proven || p.Waits && !state.Over
}

const thatIsYou = "that is you"

// Life returns a proof that somebody lives, or "". isHelper says that the proof is the helper on
// record, so ending that helps.
func Life(h backend.Holder) (why string, isHelper bool) {
	if r := h.Record; r != nil {
		lives, visible := r.Lives(owner.Here())
		for _, p := range []process.Process{r.Helper, r.Parent} {
			if visible && isAncestor(p) {
				return fmt.Sprintf(thatIsYou+": this command runs below pid %d, which has it", p.PID), false
			}
		}
		switch {
		case visible && lives == r.Helper:
			return alive(r), true
		case visible:
			return orphaned(r), false
		}
	}
	if h.Verdict == owner.Alive {
		return fmt.Sprintf("it is alive: pid %d runs on this machine", h.PID), false
	}
	return "", false
}

// isAncestor leaves out the first process, which is everybody's.
func isAncestor(p process.Process) bool { return p.PID > 1 && programs.HasAncestor(p) }

// ofLeft is about what a dead helper left; or says that whoever asks has the lock itself.
func (x Adviser) ofLeft(p show.Participant, state condition.State, why string) string {
	if p.Record == nil || state.Condition != condition.LeftOver {
		return why
	}
	if end := p.Record.EndingLeft(); end != "" {
		why += "; let that end, or " + end
	} else {
		why += "; let that end, or look what it is, and end it"
	}
	return why + fmt.Sprintf("; by itself the lock is broken by who waits for %v", whole(p.Lease))
}

// Ending says how to end a helper of ours, or who may end it.
func Ending(r *owner.Record) string {
	if os.Getuid() == 0 || r.User == request.UserName() {
		return r.Ending()
	}
	return "let " + r.User + " " + r.Ending()
}

// alive says that a helper lives, or is stopped.
func alive(r *owner.Record) string {
	if stopped := r.Stopped(); len(stopped) > 0 {
		return "it is stopped, and does nothing until it is let go on: " + owner.Named(stopped)
	}
	return fmt.Sprintf("it is alive: its helper, pid %d, runs on this machine", r.Helper.PID)
}

// orphaned says that a helper is gone, and what it leaves.
func orphaned(r *owner.Record) string {
	left := r.Left()
	switch {
	case len(left) == 0:
		return fmt.Sprintf("it may be alive: its helper, pid %d, is gone, but processes that its command started may still run on this machine: root sees which", r.Helper.PID)
	case left[0] == r.Parent:
		return fmt.Sprintf("it may be alive: its helper is gone, but its parent, %s, runs on this machine", owner.Named(left))
	}
	return fmt.Sprintf("it may be alive: its helper, pid %d, is gone, but what its command started still runs on this machine: %s", r.Helper.PID, owner.Named(left))
}

// elsewhere is about somebody of whom only signs of life are known, and whether it gives them in
// time; "" if those are not known either.
func (x Adviser) elsewhere(p show.Participant, state condition.State) (text string, beats bool) {
	look := ""
	if r := p.Record; r != nil {
		look = "; " + whereToLook(r)
	}
	old := state.Old
	switch {
	case p.Record == nil && (p.Lease == 0 || old == 0):
		return "", false
	case p.Lease == 0 || old == 0:
		return "nothing tells at one look how old its last sign of life is" + look, false
	case !state.Late && p.Silence > p.Lease:
		return fmt.Sprintf("it beats every %v: its last sign of life is %v old%s", rounded(p.Silence), rounded(old), look), true
	case !state.Late:
		return fmt.Sprintf("it beats: its last sign of life is %v old, and its lease %v%s", rounded(old), p.Lease, look), true
	case !state.Over:
		return fmt.Sprintf("it is late: its last sign of life is %v old, and its lease of %v is over in %v; %s%s",
			rounded(old), p.Lease, rounded(p.Lease-old), x.next(p), look), false
	}
	return fmt.Sprintf("its last sign of life is %v old: its lease of %v has been over for %v; %s%s",
		rounded(old), p.Lease, rounded(old-p.Lease), x.next(p), look), false
}

// next says who will break somebody without anybody's doing, and when.
func (x Adviser) next(p show.Participant) string {
	if x.Waiters > 0 && !p.Waits {
		return fmt.Sprintf("the first who waits breaks it when it has watched that for %v", whole(p.Lease))
	}
	if !p.Lasting { // tries cannot remember that sign
		return fmt.Sprintf("nobody waits; it is broken by who waits for %v", whole(p.Lease))
	}
	return fmt.Sprintf("nobody waits; it is broken by who waits for %v, or tries twice, so long apart", whole(p.Lease))
}

// whereToLook says where to look for a helper.
func whereToLook(r *owner.Record) string {
	here, its := owner.Here(), r.Place
	look := fmt.Sprintf("look on %s whether pid %d runs", its.Host, r.Helper.PID)
	switch {
	case its.Boot == "" || its.Machine != here.Machine:
		return look
	case its.Boot != here.Boot && its.Host == here.Host:
		return look + ", in another container of that name, or it ended with a reboot"
	case its.Boot != here.Boot || its.PIDNS == here.PIDNS:
		return look
	}
	if used, known := process.UsesNamespace(its.PIDNS); known && !used {
		return "it was in a container of this machine that is gone: no process is left in it"
	}
	return look + ", in its container on this machine"
}

// whole is for how long others watch before they break a holder of this lease, in full seconds.
func whole(lease time.Duration) time.Duration {
	return owner.WholeLease(lease).Truncate(time.Second) + time.Second
}

func rounded(d time.Duration) time.Duration { return d.Round(time.Second) }

// BreakCommand is the command line that breaks somebody at one lock; more says whom.
func BreakCommand(n *request.Named, lock []string, more ...string) string {
	words := []string{"locksmith", "break"}
	if n.Insecure {
		words = append(words, "--insecure")
	}
	if n.CA != "" {
		words = append(words, "--ca", n.CA)
	}
	if n.Path != "" {
		words = append(words, "--for", n.Path)
	}
	if n.Suffix != "" {
		words = append(words, "--suffix", n.Suffix)
	}
	words = slices.Concat(words, lock, more)
	for i, w := range words {
		words[i] = backend.ShellWord(w)
	}
	return strings.Join(words, " ")
}
