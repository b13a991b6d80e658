//go:build unix

package helpers

import "locksmith/protocol"

// askChecks check a helper that asks its parent how to wait. A helper need not do that.
var askChecks = []check{
	{"--ask", "after a refusal, before its first line, and the parent answers", askPauses},
	{"--ask: usual", "again N milliseconds later at the latest", askUsual},
	{"--ask: END", "After `END` comes `ERR code=held`; any other", askEnds},
	{"--ask: END unasked", "`END` counts at any time before `OK`, also without a question", askEndsUnasked},
	{"--ask: nonsense", "ends the wait with `ERR code=usage`", askNonsense},
	{"--ask: input ends", "The end of the pipe ends the wait, too.", askInputEnds},
}

// busy starts a helper that asks, for a lock that another helper holds. It returns both after
// the first question.
func (t *trial) busy() (holder, waiter *run) {
	probe := t.hold("--ask")
	probe.knows("--ask")
	probe.letGo()
	holder = t.hold()
	holder.ok()
	waiter = t.hold("--ask")
	waiter.asks("1")
	return holder, waiter
}

// asks expects a question.
func (r *run) asks(tries string) {
	l := r.say(protocol.WordBusy)
	if _, err := l.Millis("waited_ms"); err != nil || l.Value("tries") != tries || l.Text == "" {
		r.broken("a question needs waited_ms, text and tries=%s: %s", tries, show(l))
	}
}

// replies writes an answer.
func (r *run) replies(line string) {
	_, err := r.stdin.WriteString(line + "\n")
	r.must(err)
}

func askPauses(t *trial) {
	holder, waiter := t.busy()
	waiter.silent("until it is answered")
	waiter.replies("PAUSE ms=10")
	waiter.asks("2")
	waiter.replies("PAUSE ms=0")
	waiter.silent("while the same holder has the lock, after PAUSE ms=0,")
	holder.letGo()
	waiter.ok()
	waiter.letGo()
}

func askUsual(t *trial) {
	holder, waiter := t.busy()
	waiter.replies("PAUSE usual=1 ms=10")
	waiter.asks("2")
	waiter.replies("PAUSE usual=1 ms=600000")
	waiter.silent("while the same holder has the lock, after PAUSE usual=1 ms=600000,")
	holder.letGo()
	waiter.ok()
	waiter.letGo()
}

func askEndsUnasked(t *trial) {
	for _, pause := range []string{"PAUSE ms=0", "PAUSE ms=600000", "PAUSE usual=1 ms=600000"} {
		holder, waiter := t.busy()
		waiter.replies(pause)
		waiter.silent("after " + pause)
		waiter.replies("END")
		waiter.fails(protocol.WordErr, protocol.Held)
		holder.letGo()
	}
}

func askEnds(t *trial) {
	_, waiter := t.busy()
	waiter.replies("END")
	waiter.fails(protocol.WordErr, protocol.Held)
}

func askNonsense(t *trial) {
	_, waiter := t.busy()
	waiter.replies("PERHAPS")
	waiter.fails(protocol.WordErr, protocol.Usage)
}

func askInputEnds(t *trial) {
	_, waiter := t.busy()
	_ = waiter.stdin.Close()
	waiter.fails(protocol.WordErr, protocol.Cancelled)
}
