// Package clienttest has locks for the tests of programs that use package client. It starts no
// process and takes no lock anywhere. The test decides what happens to the locks.
//
//	locks := clienttest.New(t)
//	ctx := locks.Context(t.Context())
//	locks.Hold("local:/var/lock/billing") // somebody else has it
//	err := service.Bill(ctx)              // which calls client.Do(ctx, …)
//
// An acquisition with that context, or one made from it, gets a fake lock. The handle is that of
// package client itself, so contexts, errors and losses are as with a helper. So are sets, any of
// several, shared locks, policies, Waiting, MaxHold, Retries, and which kinds have tokens. An
// address of a kind that locksmith has not, or a profile's name, fails the test. Two addresses are
// one lock if their clean paths are the same; their options do not count. Nothing is logged.
//
// It is for the tests of others, who get it with the client, as net/http has httptest. So it is here
// and not under test/, where our own tests are. No program has it in it.
package clienttest

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"locksmith/client"
	"locksmith/client/internal/faking"
	"locksmith/protocol"
)

// Locks are all the locks of a test.
type Locks struct {
	t testing.TB

	mu      sync.Mutex
	changed chan struct{} // closed, and replaced, when a lock may have become free
	held    map[string][]*holder
	tokens  map[string]uint64
	taken   map[string]int
	slow    time.Duration
}

// A holder has some of the locks. lost tells it of a loss, and is nil for somebody else.
type holder struct {
	id     string
	shared map[string]bool // by lock
	lost   chan client.Code
}

// New returns locks that are free. The test fails if the program under test holds a lock when the
// test ends.
func New(t testing.TB) *Locks {
	l := &Locks{t: t, changed: make(chan struct{}), held: map[string][]*holder{}, tokens: map[string]uint64{}, taken: map[string]int{}}
	t.Cleanup(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for address, all := range l.held {
			if slices.ContainsFunc(all, isOurs) {
				t.Errorf("%s was not released", address)
			}
		}
	})
	return l
}

func isOurs(h *holder) bool { return h.lost != nil }

// Context returns a context with which the locks of this test are acquired.
func (l *Locks) Context(ctx context.Context) context.Context { return faking.With(ctx, l.help) }

// Hold has somebody else hold a lock, exclusively, until Free. The test fails if the lock is held
// already.
func (l *Locks) Hold(address string) {
	l.t.Helper()
	if l.take([]wish{{lock: clean(address)}}, &holder{id: "somebody-else"}) != nil {
		l.t.Fatalf("%s is held already", address)
	}
}

// Free ends what Hold began.
func (l *Locks) Free(address string) {
	l.t.Helper()
	h := l.find(address, func(h *holder) bool { return !isOurs(h) })
	if h == nil {
		l.t.Fatalf("%s is not held by somebody else", address)
	}
	l.free(h)
}

// Lose tells the program, with this code, that it has lost a lock which it holds.
func (l *Locks) Lose(address string, code client.Code) {
	l.t.Helper()
	h := l.find(address, isOurs)
	if h == nil {
		l.t.Fatalf("%s is not held by the program under test", address)
	}
	select {
	case h.lost <- code:
	default:
		l.t.Fatalf("%s is lost already", address)
	}
}

// Slow has every acquisition from now on take d before the first try.
func (l *Locks) Slow(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slow = d
}

// IsHeld reports whether the program under test, or somebody else, holds a lock.
func (l *Locks) IsHeld(address string) bool {
	return l.find(address, func(*holder) bool { return true }) != nil
}

// Taken returns how often the program under test has acquired a lock.
func (l *Locks) Taken(address string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken[clean(address)]
}

// find returns a holder of a lock, or nil.
func (l *Locks) find(address string, is func(*holder) bool) *holder {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.held[clean(address)]
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}

// A wish is one of the locks of an acquisition.
type wish struct {
	given, lock string // as it was given, without its mode, and as Locks call it
	shared      bool
	tokens      bool // its kind has them
	index       int  // among those given
}

// take takes all of some locks, or none; then it returns somebody who has one.
func (l *Locks) take(wishes []wish, h *holder) *holder {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range wishes {
		for _, other := range l.held[w.lock] {
			if !w.shared || !other.shared[w.lock] {
				return other
			}
		}
	}
	h.shared = map[string]bool{}
	for _, w := range wishes {
		if slices.Contains(l.held[w.lock], h) { // it was given twice
			continue
		}
		h.shared[w.lock] = w.shared
		l.held[w.lock] = append(l.held[w.lock], h)
		if isOurs(h) {
			l.taken[w.lock]++
			l.tokens[w.lock]++
			h.id = fmt.Sprintf("fake-%s-%d", w.lock, l.taken[w.lock])
		}
	}
	return nil
}

// free frees the locks of a holder.
func (l *Locks) free(h *holder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for lock := range h.shared {
		l.held[lock] = slices.DeleteFunc(l.held[lock], func(by *holder) bool { return by == h })
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

// clean is what Locks call the lock of an address.
func clean(address string) string {
	place, _, _ := strings.Cut(address, "?")
	scheme, rest, _ := strings.Cut(place, ":")
	if strings.HasPrefix(rest, "//") && slices.Contains([]string{"sftp", "ftp", "ftps", "s3", "etcd"}, scheme) {
		return scheme + ":/" + path.Clean(rest)
	}
	return scheme + ":" + path.Clean(rest)
}

// kinds are the kinds of locks, and whether they can be shared and have tokens. Those of directories
// do with ?style=dir.
var kinds = map[string]struct{ shared, tokens, style bool }{
	"local": {}, "link": {}, "flock": {shared: true}, "nfs": {true, true, false}, "sftp": {true, true, false}, "s3": {tokens: true}, "etcd": {true, true, false},
	"mkdir": {style: true}, "ftp": {style: true}, "ftps": {style: true},
}

// A helper lives like the process that it takes the place of.
type helper struct {
	*Locks
	begun   time.Time
	wishes  []wish
	any     bool
	ask     bool
	timeout time.Duration // below 0: none
	retries int           // below 0: no limit
	maxHold time.Duration // 0: none
	answers chan protocol.Line
	stdout  *os.File
	holder  *holder
}

// help lives like a helper.
func (l *Locks) help(args, locks []string, stdin, stdout *os.File) {
	h := &helper{Locks: l, begun: time.Now(), timeout: -1, retries: -1, answers: make(chan protocol.Line, 1), stdout: stdout, holder: &holder{lost: make(chan client.Code, 1)}}
	wanted, cancel := context.WithCancel(context.Background())
	defer cancel()
	go h.listen(stdin, cancel)
	if err := h.parse(args, locks); err != nil {
		h.fail(protocol.Usage, err.Error(), nil)
		return
	}
	got, by, code := h.await(wanted)
	if code != "" {
		h.fail(code, h.wishes[0].given+": held by somebody else", by)
		return
	}
	h.hold(wanted, got)
}

// listen passes answers on, and ends the wish at the end of the input.
func (h *helper) listen(stdin *os.File, cancel func()) {
	defer cancel()
	for r := protocol.NewReader(stdin); ; {
		line, err := r.Read()
		if err != nil {
			return
		}
		h.answers <- line
	}
}

func (h *helper) say(line protocol.Line) {
	if text, err := line.Format(); err == nil {
		_, _ = h.stdout.WriteString(text)
	}
}

// fail ends the wait. by is who has the lock, if that is known.
func (h *helper) fail(code client.Code, text string, by *holder) {
	line := protocol.Failure(protocol.WordErr, code, text)
	if by != nil {
		line = protocol.Holder{ID: by.id, User: "somebody"}.Append(line)
	}
	if code == protocol.Cancelled && by != nil {
		line = line.With("held", "1")
	}
	h.say(line.WithWaited(time.Since(h.begun)))
}

// parse reads the arguments of hold. What it does not know fails the test.
func (h *helper) parse(args, locks []string) error {
	shared := false
	for i := 0; i < len(args); i++ {
		value := func() (d time.Duration) {
			i++
			d, _ = time.ParseDuration(args[i])
			return d
		}
		switch name, _, _ := strings.Cut(args[i], "="); name {
		case "--any":
			h.any = true
		case "--ask":
			h.ask = true
		case "--shared":
			shared = true
		case "--timeout":
			h.timeout = value()
		case "--max-hold":
			h.maxHold = value()
		case "--retries":
			i++
			_, _ = fmt.Sscan(args[i], &h.retries)
		case "--strict", "--meta": // nobody dies here, and nobody looks
		case "--lease", "--refresh", "--respite", "--poll", "--slow": // nothing is silent, and waiters are woken
			i++
		default:
			h.t.Errorf("clienttest does not model %s of locksmith hold", name)
			return fmt.Errorf("%s: not modelled", name)
		}
	}
	for i, lock := range locks {
		w, err := h.wish(lock, shared)
		if err != nil {
			return err
		}
		w.index = i
		h.wishes = append(h.wishes, w)
	}
	return nil
}

// wish reads an address, and what its kind can do.
func (h *helper) wish(lock string, shared bool) (w wish, err error) {
	given, isShared := strings.CutPrefix(lock, "shared:")
	given, isExclusive := strings.CutPrefix(given, "exclusive:")
	w = wish{given: given, lock: clean(given), shared: isShared || shared && !isExclusive}
	scheme, rest, _ := strings.Cut(given, ":")
	kind, known := kinds[scheme]
	if !known {
		h.t.Errorf("clienttest knows no kind of locks %q, and no profiles: %s", scheme, given)
		return w, fmt.Errorf("%s: not known", given)
	}
	if place, options, _ := strings.Cut(rest, "?"); !strings.HasPrefix(place, "/") || strings.HasSuffix(place, "/") || slices.Contains(strings.Split(place, "/"), "..") {
		return w, fmt.Errorf("%s: its path is not that of a lock", given)
	} else if kind.style && strings.Contains("&"+options+"&", "&style=dir&") {
		kind.shared, kind.tokens = true, !strings.Contains(options, "tokens=no")
	}
	if w.tokens = kind.tokens; w.shared && !kind.shared {
		return w, fmt.Errorf("%s: a lock of this kind cannot be shared", given)
	}
	return w, nil
}

// await waits until it holds the locks, or with --any one of them, and returns which; or who has
// them, and a code that says why not.
func (h *helper) await(wanted context.Context) (got []wish, by *holder, code client.Code) {
	ctx, cancel := wanted, context.CancelFunc(func() {})
	if h.timeout > 0 {
		ctx, cancel = context.WithTimeout(wanted, h.timeout)
	}
	defer cancel()
	h.mu.Lock()
	slow := h.slow
	h.mu.Unlock()
	if rest(ctx, nil, slow) {
		return nil, nil, either(wanted.Err() != nil, protocol.Cancelled, protocol.Unreachable)
	}
	var leftTo *holder // as the parent answered, until another has the lock
	for tries := 0; ; tries++ {
		h.mu.Lock()
		changed := h.changed
		h.mu.Unlock()
		if got, by = h.try(); by == nil {
			return got, nil, ""
		}
		pause := never
		switch {
		case h.timeout == 0:
			return nil, by, protocol.Held
		case h.retries >= 0 && tries >= h.retries:
			return nil, by, protocol.Timeout
		case h.retries >= 0:
			pause = pace
		case h.ask && by != leftTo:
			if pause, code = h.asks(ctx, by, tries); code != "" {
				return nil, by, code
			}
			if leftTo = nil; pause == 0 {
				pause, leftTo = never, by
			} else {
				changed = nil // the parent decides when
			}
		}
		if rest(ctx, changed, pause) {
			return nil, by, either(wanted.Err() != nil, protocol.Cancelled, protocol.Timeout)
		}
	}
}

func either[T any](is bool, yes, no T) T {
	if is {
		return yes
	}
	return no
}

const (
	never = time.Duration(1 << 62)
	pace  = 10 * time.Millisecond // between tries that are counted
)

// rest waits for a change, a pause, or the end of ctx, which it reports.
func rest(ctx context.Context, changed <-chan struct{}, pause time.Duration) (ended bool) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err() != nil
}

// asks asks the parent how to wait. 0 leaves that to us.
func (h *helper) asks(ctx context.Context, by *holder, tries int) (pause time.Duration, code client.Code) {
	line := protocol.Line{Word: protocol.WordBusy, Text: h.wishes[0].given + ": held by somebody else"}.With("tries", fmt.Sprint(tries+1))
	h.say(protocol.Holder{ID: by.id, User: "somebody"}.Append(line))
	select {
	case answer := <-h.answers:
		if answer.Word == protocol.WordEnd {
			return 0, protocol.Held
		}
		pause, _ = answer.Millis("ms")
		return pause, ""
	case <-ctx.Done():
		return never, ""
	}
}

// try takes the locks, or with --any one of them, or returns who has one.
func (h *helper) try() (got []wish, by *holder) {
	if !h.any {
		return h.wishes, h.take(h.wishes, h.holder)
	}
	for i := range h.wishes {
		got = h.wishes[i : i+1]
		if by = h.take(got, h.holder); by == nil {
			return got, nil
		}
	}
	return nil, by
}

// hold holds the locks until they are not wanted any more, or lost.
func (h *helper) hold(wanted context.Context, got []wish) {
	held := time.Now()
	h.say(h.grant(got, held.Sub(h.begun)))
	code := client.Code("")
	select {
	case <-wanted.Done():
		h.free(h.holder)
		h.say(protocol.Released(time.Since(held)))
		return
	case code = <-h.holder.lost:
		h.free(h.holder)
	case <-time.After(cmp.Or(h.maxHold, never)):
		code = protocol.MaxHold
	}
	h.say(protocol.Failure(protocol.WordLost, code, got[0].given+": lost: the test, or MaxHold, says so"))
	<-wanted.Done()
	h.free(h.holder)
}

// lease is long: nothing is ever silent here.
const lease = time.Hour

func (h *helper) grant(got []wish, waited time.Duration) protocol.Line {
	h.mu.Lock()
	defer h.mu.Unlock()
	g := protocol.Grant{Mode: "exclusive", Waited: waited, Lease: lease}
	var ids, locks []string
	for _, w := range got {
		token := h.tokens[w.lock]
		if !w.tokens {
			token = 0
		}
		locks, ids = append(locks, w.lock), append(ids, fmt.Sprintf("fake-%s-%d", w.lock, h.taken[w.lock]))
		g.Tokens = append(g.Tokens, token)
		if w.shared {
			g.Mode = "shared"
		}
	}
	g.ID, g.Lock = strings.Join(ids, ","), strings.Join(locks, "\n")
	if h.any {
		g.Index = got[0].index + 1
	}
	if len(got) == 1 {
		g.Token, g.Tokens = g.Tokens[0], nil
	}
	return g.Line()
}
