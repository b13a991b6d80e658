//go:build unix

package helpers

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"locksmith/protocol"
)

// A check is one promise of a helper: the sentence that makes it, on a page of protocol or in its
// doc.go, and how to look whether the helper keeps it.
type check struct {
	name, rule string
	look       func(*trial)
}

func (c check) told() (name, rule string) { return c.name, c.rule }

// brief is a lease short enough to wait for, and beating one with heartbeats short enough to wait for:
// a helper on a busy machine may not run for some seconds when one is due.
const brief, beating = 8 * time.Second, 12 * time.Second

// checks are all checks of a helper.
var checks = slices.Concat(usual, askChecks, againChecks)

var usual = []check{
	{"first line", "**Print nothing before the first line**, and that in one write.", firstLine},
	{"id", "`id`: names this acquisition.", ids},
	{"fewest arguments", "Parents in a shell's manner leave out the `--` and most flags", fewest},
	{"arguments", "A flag and its value are two arguments, or one with `=` between; of a flag that comes twice the last counts.", arguments},
	{"log flags", "| `--log-format json --log-level LEVEL` | for `Slog` | may ignore it |", logFlags},
	{"unknown flag", "What a helper does not know or cannot do it refuses, and does not guess at", unknownFlag},
	{"unknown address", "What a helper does not know or cannot do it refuses, and does not guess at", unknownAddress},
	{"odd address", "A line is at most 4096 bytes long, its final line feed included, and holds no byte below 0x20", oddAddress},
	{"standard input ends", "To release the lock the parent closes the helper's standard input", inputEnds},
	{"release first", "**Release first, then say so.**", releaseFirst},
	{"exit last", "with the status of the code, after the lock is gone and never before.", exitLast},
	{"reads nothing", "**Watch both pipes for a hang-up, and read nothing.**", readsNothing},
	{"output alone", "with a one-way pipe, the helper's standard output", outputAlone},
	{"nobody reads", "79 if nobody reads while standard input is open", nobodyReads},
	{"both ends close", "if it does not hang up within a second, the parent had not let go.", bothClose},
	{"sockets", "Sockets count as pipes (Node.js).", socketPairs},
	{"half a socket", "A parent that has shut down its half may still read (ksh93, PHP).", halfSocket},
	{"one socket", "A parent that has shut down its half may still read (ksh93, PHP).", oneSocket},
	{"parent dies", "the parent died and another process keeps its pipe", parentDies},
	{"getppid", "the pid of `--parent`, or getppid().", shellDies},
	{"parent was dead", "getppid() has changed if it died before.", parentWasDead},
	{"parent's data", "**Leave the parent's own data alone.**", parentsData},
	{"whose data", "Where this cannot be known it refuses: `ERR code=usage`", whoseData},
	{"--stdin watch", "| `--stdin watch` | always | must obey it; elsewhere `ignore` and `auto` (the default) |", stdinWatch},
	{"--stdin ignore", "one whose own standard input must not matter says `--stdin ignore`", stdinIgnore},
	{"signals of a terminal", "with a pipe SIGINT, SIGHUP and SIGQUIT, which a terminal sends to all", terminal},
	{"SIGTERM", "SIGTERM releases. A helper with a pipe then exits with 143", terminated},
	{"held", "should try once, then say `ERR code=held`", held},
	{"in time", "**within a second**, while it waits and while it holds the lock", inTime},
	{"waits", "watches the parent; waits for the lock", waits},
	{"waiter's input ends", "**Watch while waiting, too.**", waiterInput},
	{"waiter's reader goes", "A parent that has gone away must not get the lock.", waiterReader},
	{"waiter's parent dies", "A parent that has gone away must not get the lock.", waiterParent},
	{"waiter's SIGTERM", "`code=cancelled` has the same", waiterTerminated},
	{"timeout", "| `timeout` | 75 |", timeout},
	{"--shared", "`mode`: `exclusive` or `shared`.", shared},
	{"beats", "for three quarters of `lease_ms`, since `OK` or since the last one was sent", beats},
	{"stopped", "we may have been stopped.", stopped},
	{"killed", "`lease_ms`: how long a silent holder is believed.", killed},
	{"other losses", "| `gone` | 79 | after `OK`: others removed the lock |", never("needs somebody who takes the lock away, or keeps it from being removed")},
	{"other codes", "| `unreachable` | 69 | the place cannot be reached now |", never("what provokes them is different for each kind of lock")},
	{"clock", "**Keep time by a clock that counts suspension**", never("needs a machine that sleeps")},
	{"descriptors", "**Give the lock to nobody else.**", never("nobody knows what programs a helper starts")},
	{"thread", "it also comes when only the thread ends that forked us", never("needs a parent with threads: test/parents has some")},
	{"sets, metadata, events", "may refuse them", never("a helper may do without")},
}

func never(why string) func(*trial) { return func(t *trial) { t.unchecked(why) } }

func firstLine(t *trial) {
	r := t.hold()
	g := r.ok()
	switch {
	case g.ID == "":
		t.broken("OK has no id")
	case g.Mode != "exclusive":
		t.broken("OK says mode=%s", g.Mode)
	case g.Lock != t.lock:
		t.broken("OK says lock=%s, not %s", g.Lock, t.lock)
	case g.Lease <= 0:
		t.broken("OK says lease_ms=%d", g.Lease.Milliseconds())
	case g.Waited > time.Since(r.started):
		t.broken("OK says waited_ms=%d, but it runs for %v", g.Waited.Milliseconds(), time.Since(r.started))
	}
}

func ids(t *trial) {
	seen := map[string]bool{}
	for range 3 {
		r := t.hold()
		id := r.ok().ID
		if seen[id] {
			t.broken("id %q comes twice", id)
		}
		seen[id] = true
		r.letGo()
	}
}

func fewest(t *trial) {
	r := t.start(t.input(), t.output(), slices.Concat(t.command, []string{"hold", t.lock}))
	r.ok()
	r.silent("with both pipes open")
	r.letGo()
}

func arguments(t *trial) {
	r := t.hold("--parent", pid(t.other()), "--stdin=watch", "--parent="+pid(t.other()))
	r.ok()
	r.letGo()
	last := t.other()
	r = t.hold("--parent="+pid(t.other()), "--parent", pid(last))
	r.ok()
	last.Kill()
	r.gone()
}

func logFlags(t *trial) {
	r := t.hold("--log-format", "json", "--log-level", "debug")
	r.ok()
	r.letGo()
}

func unknownFlag(t *trial) {
	t.hold("--no-helper-knows-this").fails(protocol.WordErr, protocol.Usage)
}

func unknownAddress(t *trial) {
	t.lock = "no-such-kind:nothing"
	r := t.hold("--timeout", "0")
	if l, err := r.read(t.within); err == nil && l.Word == protocol.WordOK {
		t.unchecked("it takes any address")
	}
	t.hold().fails(protocol.WordErr, protocol.Usage)
}

func oddAddress(t *trial) {
	usual := t.lock
	for _, odd := range []string{"\x01\n\u202e\xff", "/\x01\n" + strings.Repeat("long", 1200)} {
		t.lock = usual + odd
		r := t.hold()
		l, err := r.read(t.within)
		switch {
		case err != nil:
			t.broken("an address that ends in %.20q: %v", odd, err)
		case l.Word == protocol.WordOK:
			r.letGo()
		case l.Word != protocol.WordErr:
			t.broken("an address that ends in %.20q: %s", odd, show(l))
		default:
			r.ends(protocol.Code(l.Value("code")).Exit())
		}
	}
}

func inputEnds(t *trial) {
	r := t.hold()
	r.ok()
	r.letGo()
}

func releaseFirst(t *trial) {
	r := t.hold()
	r.ok()
	_ = r.stdin.Close()
	r.gone()
	t.free()
}

func exitLast(t *trial) {
	r := t.hold()
	r.ok()
	_ = r.stdin.Close()
	_ = r.stdout.Close()
	r.exits(0)
	t.free()
}

func readsNothing(t *trial) {
	in := t.input()
	fd, err := syscall.Dup(int(in.theirs.Fd()))
	t.must(err)
	unread := os.NewFile(uintptr(fd), "unread")
	defer unread.Close()
	syscall.CloseOnExec(fd)
	r := t.start(in, t.output(), t.call("--stdin", "watch"))
	r.ok()
	const said = "not for the helper\n"
	_, err = in.ours.WriteString(said)
	t.must(err)
	r.silent("after the parent wrote")
	r.letGo()
	if left, err := io.ReadAll(unread); string(left) != said {
		t.broken("of %q it left %q, %v", said, left, err)
	}
}

func outputAlone(t *trial) {
	null, err := os.Open(os.DevNull)
	t.must(err)
	r := t.start(link{null, null}, t.output(), t.call())
	r.ok()
	r.silent("with /dev/null as standard input")
	_ = r.stdout.Close()
	r.exits(0)
	t.free()
}

func nobodyReads(t *trial) {
	r := t.hold()
	r.ok()
	_ = r.stdout.Close()
	r.exits(protocol.Gone.Exit())
	t.free()
}

func bothClose(t *trial) {
	r := t.hold()
	r.ok()
	_ = r.stdout.Close()
	_ = r.stdin.Close()
	r.exits(0)
}

func socketPairs(t *trial) {
	r := t.start(t.sockets(), t.sockets(), t.call("--stdin", "watch"))
	r.ok()
	r.silent("with both sockets open")
	r.letGo()
}

func halfSocket(t *trial) {
	out := t.sockets()
	r := t.start(t.input(), out, t.call("--stdin", "watch"))
	r.ok()
	t.writesNoMore(out)
	r.silent("when its parent will write no more to its output")
	r.letGo()
}

// oneSocket: for both streams. Only if it is told to watch its input the parent lets go by that.
func oneSocket(t *trial) {
	both := t.sockets()
	r := t.start(both, both, t.call("--stdin", "watch"))
	r.ok()
	t.writesNoMore(both)
	r.released(0)
	both = t.sockets()
	r = t.start(both, both, t.call("--stdin", "ignore"))
	r.knows("--stdin ignore")
	t.writesNoMore(both)
	r.silent("when its parent will write no more to an input to be ignored")
	r.signal(syscall.SIGTERM)
	r.released(128 + int(syscall.SIGTERM))
}

func parentDies(t *trial) {
	parent := t.other()
	r := t.hold("--parent", pid(parent))
	r.ok()
	r.silent("while its parent lives")
	parent.Kill()
	r.released(protocol.Gone.Exit())
	t.free()
}

// shellDies: we keep both pipes, so only the shell's death tells.
func shellDies(t *trial) {
	r := t.behindShell()
	r.ok()
	r.process.Kill()
	r.gone()
}

func parentWasDead(t *trial) {
	parent := t.other()
	parent.Kill()
	t.hold("--parent", pid(parent)).fails(protocol.WordErr, protocol.Cancelled)
}

func parentsData(t *trial) {
	r := t.behindShell()
	r.ok()
	_ = r.stdin.Close()
	r.silent("at the end of its parent's data")
	r.process.Kill()
	r.gone()
}

// whoseData: in a pid namespace of its own, with the /proc around it, the helper cannot look at its
// parent.
func whoseData(t *trial) {
	alone := []string{"unshare", "--pid", "--fork"}
	if os.Geteuid() != 0 {
		alone = append(alone, "--map-root-user")
	}
	if err := exec.Command(alone[0], append(alone[1:], "true")...).Run(); err != nil {
		t.unchecked("no pid namespace to be had: " + err.Error())
	}
	r := t.start(t.input(), t.output(), slices.Concat(alone, t.command, []string{"hold", "--", t.lock}))
	l, err := r.read(t.within)
	switch {
	case err == nil && l.Word == protocol.WordOK: // it can tell all the same
		_ = r.stdin.Close()
		r.gone()
	case err != nil || l.Value("code") != string(protocol.Usage):
		t.broken("with a parent that it cannot see: %v %s", err, show(l))
	default:
		r.ends(protocol.Usage.Exit())
	}
}

func stdinWatch(t *trial) {
	r := t.behindShell("--stdin", "watch")
	r.ok()
	_ = r.stdin.Close()
	r.gone()
}

func stdinIgnore(t *trial) {
	r := t.hold("--stdin", "ignore")
	r.knows("--stdin ignore")
	_ = r.stdin.Close()
	r.silent("at the end of an input to be ignored")
}

func terminal(t *trial) {
	r := t.hold()
	r.ok()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		r.signal(s)
		r.silent("after " + s.String())
	}
	r.letGo()
}

func terminated(t *trial) {
	r := t.hold()
	r.ok()
	r.signal(syscall.SIGTERM)
	r.released(128 + int(syscall.SIGTERM))
}

func held(t *trial) {
	r := t.hold()
	id := r.ok().ID
	l := t.hold("--timeout", "0").fails(protocol.WordErr, protocol.Held)
	if holder := l.Value("holder"); holder != "" && holder != id {
		t.broken("the holder is %s: %s", id, show(l))
	}
	for _, key := range []string{"age_ms", "heartbeat_ms"} {
		if _, has := l.Get(key); has {
			if _, err := l.Millis(key); err != nil {
				t.broken("%v", err)
			}
		}
	}
	r.silent("after another tried")
	r.letGo()
}

func waits(t *trial) {
	first := t.hold()
	first.ok()
	second := t.hold()
	second.silent("while another has the lock")
	first.letGo()
	if g := second.ok(); g.Waited > time.Since(second.started) {
		t.broken("it waited for %v of %v", g.Waited, time.Since(second.started))
	}
	second.letGo()
}

// waiting returns a helper that waits for a lock that another holds.
func (t *trial) waiting(flags ...string) *run {
	t.hold().ok()
	r := t.hold(flags...)
	r.silent("while another has the lock")
	return r
}

func waiterInput(t *trial) {
	r := t.waiting()
	_ = r.stdin.Close()
	r.fails(protocol.WordErr, protocol.Cancelled)
}

func waiterReader(t *trial) {
	r := t.waiting()
	_ = r.stdout.Close()
	r.exits(protocol.Cancelled.Exit())
}

func waiterParent(t *trial) {
	parent := t.other()
	r := t.waiting("--parent", pid(parent))
	parent.Kill()
	r.fails(protocol.WordErr, protocol.Cancelled)
}

// waiterTerminated: a helper that dies of the signal may have been too slow to prepare for it.
// Then it gets more time.
func waiterTerminated(t *trial) {
	t.hold().ok()
	for ; ; t.grace *= 4 {
		r := t.hold()
		r.silent("while another has the lock")
		r.signal(syscall.SIGTERM)
		if !r.diesOf(syscall.SIGTERM) || t.grace > t.within/10 {
			r.fails(protocol.WordErr, protocol.Cancelled)
			return
		}
	}
}

// inTime: a busy machine may make a helper late once, and a helper that polls may be in time
// once. So this tries several pauses, and all of them again if the helper was late at one.
func inTime(t *trial) {
	for range 3 {
		if t.prompt(0) && t.prompt(100*time.Millisecond) && t.prompt(300*time.Millisecond) {
			return
		}
		t.soon = max(t.soon, 10*starting())
	}
	t.broken("its lock, or its wait, ended more than %v after the hang-up: %v", t.soon, t.late.Round(time.Millisecond))
}

// starting is how long this machine takes to run a program that does nothing. Where that is long, no
// helper can be prompt.
func starting() time.Duration {
	began := time.Now()
	if exec.Command("true").Run() != nil {
		return 0
	}
	return time.Since(began)
}

// prompt reports whether, after a pause, helpers that hold and wait for the lock end soon.
func (t *trial) prompt(pause time.Duration) bool {
	holder := t.hold()
	holder.ok()
	second := t.hold()
	second.silent("while another has the lock")
	time.Sleep(pause)
	hung := time.Now()
	_ = second.stdin.Close()
	second.fails(protocol.WordErr, protocol.Cancelled)
	late := time.Since(hung)
	hung = time.Now()
	_ = holder.stdin.Close()
	holder.say(protocol.WordReleased)
	t.late = max(late, time.Since(hung))
	holder.ends(0)
	return t.late <= t.soon
}

func timeout(t *trial) {
	t.hold("--timeout", "1m").knows("--timeout 1m")
	t.hold("--timeout", min(5*time.Second, t.within/4).String()).fails(protocol.WordErr, protocol.Timeout)
}

func shared(t *trial) {
	r := t.hold("--shared")
	if g := r.knows("--shared"); g.Mode != "shared" {
		t.broken("OK says mode=%s", g.Mode)
	}
	r.letGo()
}

// short holds the lock with a short lease, if the helper lets us choose.
func (t *trial) short(lease time.Duration, flags ...string) (*run, protocol.Grant) {
	r := t.hold(append(flags, "--lease", lease.String())...)
	if l, err := r.read(t.within); err == nil && l.Word == protocol.WordOK {
		return r, r.grant(l)
	}
	r = t.hold(flags...)
	return r, r.ok()
}

func beats(t *trial) {
	r, g := t.short(beating, "--beats")
	l, err := r.read(protocol.StopAfter(g.Lease))
	if err != nil {
		t.broken("no BEAT within three quarters of %v: %v", g.Lease, err)
	}
	if sent, err := l.Millis("sent_ms"); l.Word != protocol.WordBeat || err != nil || sent > time.Since(r.started) {
		t.broken("instead of a BEAT: %s", show(l))
	}
	r.letGo()
}

func stopped(t *trial) {
	var flags []string
	if t.kept {
		flags = []string{"--beats"}
	}
	r, g := t.short(brief, flags...)
	if g.Lease > brief {
		t.unchecked("its lease is " + g.Lease.String())
	}
	r.signal(syscall.SIGSTOP)
	time.Sleep(g.Lease + time.Second)
	for t.kept { // skip each BEAT of before
		if _, err := r.read(time.Millisecond); err != nil {
			break
		}
	}
	r.signal(syscall.SIGCONT)
	if t.kept {
		r.say(protocol.WordBeat)
		r.letGo()
		return
	}
	r.fails(protocol.WordLost, protocol.Expired, protocol.Gone, protocol.Unreleased)
}

func killed(t *trial) {
	r, g := t.short(brief)
	r.process.Kill()
	next := t.hold()
	next.within += g.Lease
	next.ok()
}
