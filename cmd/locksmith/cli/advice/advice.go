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

// An Answer is what there is to know of somebody: what becomes of it, whether it is safe to break it,
// and what to do, which is one command if there is one.
type Answer struct{ Who, Safe, Do string }

// Lines are the answer for people.
func (a Answer) Lines() []string {
	return []string{"who: " + a.Who, "safe to break? " + a.Safe, "do this: " + a.Do}
}

// Explain answers about somebody. status says nothing more of a participant that just holds the lock or
// waits for it.
func (x Adviser) Explain(p show.Participant) Answer {
	why, isHelper := Life(p.Holder)
	state := condition.Of(p.Holder)
	byID := x.Command("--id", p.ID)
	switch {
	case strings.HasPrefix(why, thatIsYou):
		return Answer{why, "no: you hold it yourself", "let this command end"}
	case p.OfKernel:
		return ofKernel(p, state)
	case p.ID == "" && p.Sign == "":
		return Answer{cmp.Or(p.Note, "it has no id"), "not known: nothing says whose it is", cmp.Or(p.Advice, "remove it by hand when nobody uses it: it has no id")}
	case p.ID == "" && state.Condition == condition.Dead:
		return Answer{"it is dead: whoever comes next takes the lock", "yes: that is proven", x.Command("--force")}
	case p.ID == "" && state.Proven:
		return Answer{cmp.Or(why, "it lives"), "no: it lives; only if it does not use the lock", x.Command("--force")}
	case p.ID == "":
		return Answer{cmp.Or(p.Note, "it has no id"), "not known: nothing says whose it is; only if nobody uses it", x.Command("--force")}
	case isHelper && p.Waits && len(p.Record.Stopped()) == 0:
		a := ofHelper(p.Record, why, false)
		a.Safe = "no: it waits, and lives"
		return a
	case isHelper:
		return ofHelper(p.Record, why, state.Over && !p.Outlasts)
	case why != "":
		return ofLeft(p, state, why)
	case state.Condition == condition.NotOurs:
		return Answer{"it is dead", "yes: that is proven, but only its owner may remove it", cmp.Or(p.Advice, byID)}
	case state.IsDead():
		return Answer{"it is dead: whoever comes next takes the lock", "yes: that is proven", byID}
	}
	return x.elsewhere(p, state, byID)
}

// ofKernel is about a lock that the kernel keeps.
func ofKernel(p show.Participant, state condition.State) Answer {
	who, end := p.KeptBy()
	var stopped []process.Process
	for _, pid := range p.Kept {
		if k := (process.Process{PID: pid}); k.Stopped() {
			stopped = append(stopped, k)
		}
	}
	switch {
	case len(stopped) > 0:
		all := strings.TrimPrefix(end, "kill ")
		return Answer{itIsStopped + owner.Named(stopped), "no: it goes on when it is continued; what ends it instead: kill -9 " + all, "kill -CONT " + all}
	case state.Condition == condition.LeftOver:
		return Answer{who, "no: its job ended, but what that left behind may use what the lock guards", cmp.Or(end, seeByRoot)}
	}
	return Answer{who, "no: nobody can take it from its holder", cmp.Or(end, seeByRoot)}
}

const seeByRoot = "find as root who has it, with: lslocks"

// ofHelper is about a living helper. If its lease is over, and the kernel does not keep its lock, it finds the
// lock lost when it goes on.
func ofHelper(r *owner.Record, why string, over bool) Answer {
	e := r.Endings()
	a := Answer{why, "no: its job still runs; wait for its end, or end it", e.End}
	if len(r.Stopped()) > 0 {
		a.Safe, a.Do = "no: its job goes on when it is continued", e.GoOn
		if over {
			a.Safe = "no: when it is continued its job is ended, because its lease is over"
		}
		if e.End != "" {
			a.Safe += "; what ends it instead: " + e.End
		}
	}
	switch {
	case e.First != "":
		a.Do = "first " + e.First
	case !mayEnd(r):
		a.Do = "let " + r.User + " do: " + a.Do
	}
	return a
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

// ofLeft is about what a dead helper left, or about another program that lives.
func ofLeft(p show.Participant, state condition.State, why string) Answer {
	if p.Record == nil || state.Condition != condition.LeftOver {
		return Answer{why, "no: it lives", "let it end"}
	}
	return Answer{why, fmt.Sprintf("no: that may still use what the lock guards; by itself the lock is broken by who waits for %v", whole(p.Lease)),
		cmp.Or(p.Record.EndingLeft(), "look what that is, and end it, or let it end")}
}

// Ending says how to end a helper of ours, or who may end it.
func Ending(r *owner.Record) string {
	if mayEnd(r) {
		return r.Ending()
	}
	return "let " + r.User + " " + r.Ending()
}

// mayEnd reports whether this user may send signals to the processes of a record.
func mayEnd(r *owner.Record) bool { return os.Getuid() == 0 || r.User == request.UserName() }

const itIsStopped = "it is stopped, and does nothing until it is continued: "

// alive says that a helper lives, or is stopped.
func alive(r *owner.Record) string {
	if stopped := r.Stopped(); len(stopped) > 0 {
		return itIsStopped + owner.Named(stopped)
	}
	return fmt.Sprintf("it is alive: its helper, pid %d, runs on this machine", r.Helper.PID)
}

// orphaned says that a helper is gone, and what it leaves.
func orphaned(r *owner.Record) string {
	left := r.Left()
	switch {
	case len(left) == 0:
		return fmt.Sprintf("its helper, pid %d, is gone, but processes that its command started may still run on this machine: root sees which", r.Helper.PID)
	case left[0] == r.Parent:
		return fmt.Sprintf("its helper is gone, but its parent, %s, runs on this machine", owner.Named(left))
	}
	return fmt.Sprintf("its helper, pid %d, is gone, but what its command started still runs on this machine: %s", r.Helper.PID, owner.Named(left))
}

// elsewhere is about somebody of whom only signs of life are known, if any.
func (x Adviser) elsewhere(p show.Participant, state condition.State, byID string) Answer {
	look := ""
	if r := p.Record; r != nil {
		look = "; " + whereToLook(r)
	}
	old := state.Old
	switch {
	case p.Record == nil && (p.Lease == 0 || old == 0):
		return Answer{"nothing tells whose it is", "not known: the command watches it first", byID}
	case p.Lease == 0 || old == 0:
		return Answer{"nothing tells at one look how old its last sign of life is" + look, "not known: the command watches it first", byID}
	case !state.Late && p.Silence > p.Lease:
		return Answer{fmt.Sprintf("it beats every %v: its last sign of life is %v old%s", rounded(p.Silence), rounded(old), look), inTime, "let it end"}
	case !state.Late:
		return Answer{fmt.Sprintf("it beats: its last sign of life is %v old, and its lease %v%s", rounded(old), p.Lease, look), inTime, "let it end"}
	case !state.Over:
		return Answer{fmt.Sprintf("it is late: its last sign of life is %v old%s", rounded(old), look),
			fmt.Sprintf("not known: its lease of %v is over in %v; %s", p.Lease, rounded(p.Lease-old), x.next(p)), byID}
	}
	return Answer{fmt.Sprintf("its last sign of life is %v old: its lease of %v has been over for %v%s", rounded(old), p.Lease, rounded(old-p.Lease), look),
		"not known: nothing proves that it is dead; " + x.next(p), byID}
}

const inTime = "no: its last sign of life is in time"

// next says who will break somebody without anybody's doing, and when.
func (x Adviser) next(p show.Participant) string {
	if x.Waiters > 0 && !p.Waits {
		return fmt.Sprintf("the first waiter takes the lock when it has seen no sign of life for %v", whole(p.Lease))
	}
	if !p.Lasting { // tries cannot remember that sign
		return fmt.Sprintf("nobody waits; whoever waits for %v takes the lock", whole(p.Lease))
	}
	return fmt.Sprintf("nobody waits; whoever waits for %v takes the lock, or the second of two tries that far apart, if their user's tries can remember", whole(p.Lease))
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
	for _, flag := range [][2]string{{"--ca", n.CA}, {"--for", n.Path}, {"--suffix", n.Suffix}} {
		if flag[1] != "" {
			words = append(words, flag[:]...)
		}
	}
	words = slices.Concat(words, lock, more)
	for i, w := range words {
		words[i] = backend.ShellWord(w)
	}
	return strings.Join(words, " ")
}
