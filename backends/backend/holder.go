package backend

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"locksmith/backends/owner"
	"locksmith/protocol"
)

// maxDescription is how long a description for people may be, in bytes.
const maxDescription = 1024

// StickyNote is the Note on a dead holder whose lock file only its owner may remove.
const StickyNote = "it is dead, but in this directory only its owner may remove it"

// Sticky returns a dead holder whose lock file only its owner may remove, with advice.
func (h Holder) Sticky(lock Name) Holder {
	h.Note, h.Advice, h.Blocked = StickyNote, "let its owner break it: locksmith break "+ShellWord(string(lock)), true
	return h
}

// String describes the holder in a few words for people:
// "alice@web3 (pid 4242, billing.pl, job=nightly) for 3m12s, last heartbeat 4s ago".
func (h Holder) String() string { return h.describe("") }

// Holding is String for one that holds the lock now. It adds until when the holder may have it:
// "alice@web3 (pid 4242) for 3m12s, last heartbeat 4s ago, until 16:40 at the latest".
func (h Holder) Holding(now time.Time) string {
	if h.Record == nil || h.Record.MaxHold == 0 {
		return h.String()
	}
	end, layout := now.Add(h.Record.MaxHold-h.Age), "15:04"
	if end.Format(time.DateOnly) != now.Format(time.DateOnly) {
		layout = "Mon 2 Jan 15:04"
	}
	return h.describe(", until " + end.Format(layout) + " at the latest")
}

// LateAfter returns how long a holder or a waiter must be silent before we mention it: a bit longer
// than it may be.
func (h Holder) LateAfter() time.Duration {
	most := cmp.Or(h.Silence, owner.BeatsEvery(h.Lease))
	return most + most/25 + time.Second
}

// ByProgram describes the holder by what it held the lock for: "billing.pl (helper's pid 17004 on
// web3, job=nightly)".
func (h Holder) ByProgram() string {
	if h.Record == nil {
		return inBrackets(cmp.Or(h.Who, nobodyKnown), h.details("", ""))
	}
	return inBrackets(cmp.Or(h.Record.Program, h.Record.User), h.details(" on "+h.Record.Place.Host, ""))
}

// EndingKept says, for people, what ends a holder whose lock the kernel keeps.
func (h Holder) EndingKept() string {
	who, end := h.KeptBy()
	if end == "" {
		return who + "; who has it root finds with: fuser or lslocks"
	}
	return who + ": end that with: " + end
}

// KeptBy says for whom the kernel keeps a lock, and the command that ends that, or "". It relies on what
// the kernel shows, and never on a record, because anybody may have written that.
func (h Holder) KeptBy() (who, end string) {
	if len(h.Kept) == 0 {
		return "the kernel keeps it for a process that cannot be seen from here", ""
	}
	words := strings.Trim(fmt.Sprint(h.Kept), "[]")
	return "the kernel keeps it for pid " + strings.ReplaceAll(words, " ", ", "), "kill " + words
}

// otherKeeper is owner.Record.OtherKeeper, where the record matters.
func (h Holder) otherKeeper() string {
	if h.Record == nil {
		return ""
	}
	return h.Record.OtherKeeper()
}

const nobodyKnown = "somebody unknown"

// details returns the holder's pid with where behind it, its program, and what it says of itself. It
// leaves out the pid if Who stands for it. If the pid is the helper's and not that of the program,
// the text says so.
func (h Holder) details(where, program string) (all []string) {
	whose, pid := "", h.PID
	if r := h.Record; r != nil && r.Program != "" {
		whose = "helper's "
		if p := r.Guarded(); p.PID != 0 {
			whose, pid = "", p.PID
		}
	}
	if pid != 0 && h.Who == "" {
		all = append(all, fmt.Sprintf("%spid %d%s", whose, pid, where))
	}
	if program != "" {
		all = append(all, program)
	}
	if h.Record != nil {
		for _, m := range h.Record.Meta {
			all = append(all, m.Key+"="+m.Value)
		}
	}
	return all
}

func inBrackets(who string, details []string) string {
	if len(details) == 0 {
		return who
	}
	return who + " (" + strings.Join(details, ", ") + ")"
}

func (h Holder) describe(until string) string {
	who, program := cmp.Or(h.Who, nobodyKnown), ""
	if r := h.Record; r != nil {
		who, program = r.User+"@"+r.Place.Host, r.Program
	}
	details := h.details("", program)
	if keeper := h.otherKeeper(); keeper != "" {
		details = append(details, "in a file of "+keeper)
	}
	switch h.Verdict {
	case owner.Dead:
		details = append(details, "dead")
	case owner.Orphaned:
		if !h.OfKernel { // its note says what keeps the lock
			details = append(details, "its helper is gone, what it guarded may still run")
		}
	}
	s := inBrackets(who, details)
	if h.Age > 0 {
		s += " for " + h.Age.Round(time.Second).String()
	}
	if h.Record != nil && h.Heartbeat > 0 {
		s += ", last heartbeat " + h.Heartbeat.Round(time.Second).String() + " ago"
	}
	if h.Silent > h.LateAfter() {
		s += ", silent for at least " + h.Silent.Truncate(time.Second).String()
	}
	s += until
	if h.Blocked {
		s += ", and nothing frees it by itself"
	}
	for _, more := range []string{h.Note, h.Advice} {
		if more != "" {
			s += "; " + more
		}
	}
	return protocol.CleanText(s, maxDescription)
}

// String describes the success for people: "last success 12m0s ago by web3".
func (s Success) String() string {
	text := "last success " + s.Ago.Round(time.Second).String() + " ago"
	if s.Ago < 0 {
		text = "last success in the future"
	}
	if s.Host != "" {
		text += " by " + s.Host
	}
	return protocol.CleanText(text, maxDescription)
}
