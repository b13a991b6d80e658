//go:build unix

package helpers

import (
	"os/exec"
	"slices"
	"syscall"
	"time"

	"locksmith/protocol"
	"locksmith/test/lab"
)

// againChecks check a helper that serves one lock after another. A helper need not do that.
var againChecks = []check{
	{"--again", "It writes `READY proto=1`, and then reads requests", againServes},
	{"--again: held", "`BEGUN n=7` at once; then `OK n=7 …` or `ERR n=7 …`", againHeld},
	{"--again: cancelled", "`ERR n=7 code=cancelled waited_ms=…`", againCancelled},
	{"--again: nobody waits", "It does not begin an `ACQUIRE` that has `CANCEL` or the end of input behind it", againStopped},
	{"--again: input ends", "the lock is released, and the helper ends", againInputEnds},
	{"--again: parent dies", "the end of input, or the parent's death", againParentDies},
	{"--again: nonsense", "a line that cannot be read, is an error: the helper releases, says `ERR code=usage` and ends.", againNonsense},
	{"--again: too soon", "**The next `ACQUIRE` comes after the last answer**", againTooSoon},
	{"--again: its own flags", "In a request they are refused.", againFlags},
}

// again starts a helper that serves several locks, if it can.
func (t *trial) again(flags ...string) *run {
	r := t.start(t.input(), t.output(), slices.Concat(t.command, []string{"hold", "--again", "--stdin", "watch"}, flags))
	l, err := r.read(t.within)
	switch {
	case err != nil:
		t.broken("with --again it says nothing: %v", err)
	case l.Word == protocol.WordErr && l.Value("code") == string(protocol.Usage):
		t.unchecked("it refuses --again")
	case l.Word != protocol.WordReady || l.Value("proto") != "1":
		t.broken("instead of READY: %s", show(l))
	}
	const first = 1 << 32
	r.ask(protocol.WordAcquire, first, "--", t.lock)
	if l, err := r.read(t.within); err == nil && l.NeedsOwn() {
		t.unchecked("this kind of lock needs a helper of its own")
	} else if err != nil || l.Word != protocol.WordBegun || l.Number() != first {
		t.broken("instead of BEGUN: %v %s", err, show(l))
	}
	r.grant(r.answer(protocol.WordOK, first))
	r.gives(first)
	return r
}

// ask writes a request.
func (r *run) ask(word string, n uint64, args ...string) {
	text, err := protocol.Request{Word: word, Number: n, Args: args}.Line().Format()
	r.must(err)
	_, err = r.stdin.WriteString(text)
	r.must(err)
}

// answer expects a word about a request.
func (r *run) answer(word string, n uint64) protocol.Line {
	l := r.say(word)
	if l.Number() != n {
		r.broken("it is not about n=%d: %s", n, show(l))
	}
	return l
}

// has asks for the lock, and expects it.
func (r *run) has(n uint64, args ...string) protocol.Grant {
	r.ask(protocol.WordAcquire, n, append(args, "--", r.lock)...)
	r.answer(protocol.WordBegun, n)
	return r.grant(r.answer(protocol.WordOK, n))
}

func (r *run) gives(n uint64) {
	r.ask(protocol.WordRelease, n)
	if _, err := r.answer(protocol.WordReleased, n).Millis("held_ms"); err != nil {
		r.broken("%v", err)
	}
}

func againServes(t *trial) {
	r := t.again()
	seen := map[string]bool{}
	for n := range uint64(3) {
		if id := r.has(n + 1).ID; seen[id] {
			t.broken("id %s comes twice", id)
		} else {
			seen[id] = true
		}
		r.gives(n + 1)
		t.free()
	}
	_ = r.stdin.Close()
	r.ends(0)
}

func againHeld(t *trial) {
	r, other := t.again(), t.hold()
	other.ok()
	r.ask(protocol.WordAcquire, 1, "--timeout", "0", t.lock)
	r.answer(protocol.WordBegun, 1)
	if l := r.answer(protocol.WordErr, 1); l.Value("code") != string(protocol.Held) {
		t.broken("of a lock that is held: %s", show(l))
	}
	other.letGo()
	r.has(2)
	r.gives(2)
}

func againCancelled(t *trial) {
	r, other := t.again(), t.hold()
	other.ok()
	r.ask(protocol.WordAcquire, 1, t.lock)
	r.answer(protocol.WordBegun, 1)
	r.silent("while another has the lock")
	r.ask(protocol.WordCancel, 1)
	l := r.answer(protocol.WordErr, 1)
	if _, err := l.Millis("waited_ms"); err != nil || l.Value("code") != string(protocol.Cancelled) {
		t.broken("after CANCEL: %s", show(l))
	}
	r.ask(protocol.WordCancel, 1) // crosses with the answer
	other.letGo()
	t.free()
	r.has(2)
	r.gives(2)
}

// againStopped: the helper is stopped while it waits for a request. When it goes on, both lines
// are there.
func againStopped(t *trial) {
	r := t.again()
	r.signal(syscall.SIGSTOP)
	time.Sleep(t.grace)
	r.ask(protocol.WordAcquire, 1, t.lock)
	r.ask(protocol.WordCancel, 1)
	r.signal(syscall.SIGCONT)
	if l := r.answer(protocol.WordErr, 1); l.Value("code") != string(protocol.Cancelled) {
		t.broken("of a request that nobody waits for: %s", show(l))
	}
	r.signal(syscall.SIGSTOP)
	time.Sleep(t.grace)
	r.ask(protocol.WordAcquire, 2, t.lock)
	_ = r.stdin.Close()
	r.signal(syscall.SIGCONT)
	for {
		l, err := r.read(t.within)
		if err != nil {
			break
		}
		if l.Word == protocol.WordBegun || l.Word == protocol.WordOK {
			t.broken("after the end of input it says %s", show(l))
		}
	}
	r.exits(0)
	t.free()
}

func againInputEnds(t *trial) {
	r := t.again()
	r.has(1)
	_ = r.stdin.Close()
	r.answer(protocol.WordReleased, 1)
	r.ends(0)
	t.free()
}

func againParentDies(t *trial) {
	parent := lab.Start(t, exec.Command("sleep", "600"))
	r := t.again("--parent", pid(parent))
	r.has(1)
	parent.Kill()
	r.answer(protocol.WordReleased, 1)
	if _, err := r.read(t.within); err == nil {
		t.broken("it goes on without its parent")
	}
	t.free()
}

// endsWithUsage expects the end of a helper that was told nonsense.
func (r *run) endsWithUsage() {
	if l := r.say(protocol.WordErr); l.Value("code") != string(protocol.Usage) || l.Number() != 0 {
		r.broken("of a request that makes no sense: %s", show(l))
	}
	r.ends(protocol.Usage.Exit())
}

func againNonsense(t *trial) {
	r := t.again()
	r.has(1)
	_, err := r.stdin.WriteString("hello\n")
	t.must(err)
	r.answer(protocol.WordReleased, 1)
	r.endsWithUsage()
	t.free()
}

func againTooSoon(t *trial) {
	r := t.again()
	r.has(1)
	r.ask(protocol.WordAcquire, 2, t.lock)
	r.answer(protocol.WordReleased, 1)
	r.endsWithUsage()
	t.free()
}

func againFlags(t *trial) {
	r := t.again()
	for i, flag := range []string{"--again", "--beats", "--stdin=ignore", "--no-helper-knows-this"} {
		r.ask(protocol.WordAcquire, uint64(i+1), flag, t.lock)
		if l := r.answer(protocol.WordErr, uint64(i+1)); l.Value("code") != string(protocol.Usage) {
			t.broken("of a request with %s: %s", flag, show(l))
		}
	}
	r.has(9)
	r.gives(9)
}
