// Package clienttest has locks for the tests of programs that use package client. It starts no
// process and takes no lock anywhere. The test decides what happens to the locks.
//
//	locks := clienttest.New(t)
//	ctx := locks.Context(t.Context())
//	locks.Hold("local:/var/lock/billing") // somebody else has it
//	err := service.Bill(ctx)              // which calls client.Do(ctx, …)
//
// An acquisition with that context, or one made from it, gets a fake lock: by the address alone,
// exclusive, with a fencing token that rises. Sets are all or none. The handle is that of
// package client itself, so contexts, errors and losses are as with a helper.
package clienttest

import (
	"bufio"
	"context"
	"fmt"
	"os"
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
	held    map[string]*holder
	tokens  map[string]uint64
	taken   map[string]int
	slow    time.Duration
}

// A holder has some of the locks. lost tells it of a loss, and is nil for somebody else.
type holder struct{ lost chan client.Code }

// New returns locks that are free. The test fails if the program under test holds a lock when the
// test ends.
func New(t testing.TB) *Locks {
	l := &Locks{t: t, changed: make(chan struct{}), held: map[string]*holder{}, tokens: map[string]uint64{}, taken: map[string]int{}}
	t.Cleanup(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for address, h := range l.held {
			if h.lost != nil {
				t.Errorf("%s was not released", address)
			}
		}
	})
	return l
}

// Context returns a context with which the locks of this test are acquired.
func (l *Locks) Context(ctx context.Context) context.Context { return faking.With(ctx, l.help) }

// Hold has somebody else hold a lock until Free. The test fails if the lock is held already.
func (l *Locks) Hold(address string) {
	l.t.Helper()
	if !l.take([]string{address}, &holder{}) {
		l.t.Fatalf("%s is held already", address)
	}
}

// Free ends what Hold began.
func (l *Locks) Free(address string) {
	l.t.Helper()
	l.mu.Lock()
	h := l.held[address]
	l.mu.Unlock()
	if h == nil || h.lost != nil {
		l.t.Fatalf("%s is not held by somebody else", address)
	}
	l.free(h)
}

// Lose tells the program, with this code, that it has lost a lock which it holds.
func (l *Locks) Lose(address string, code client.Code) {
	l.t.Helper()
	l.mu.Lock()
	h := l.held[address]
	l.mu.Unlock()
	if h == nil || h.lost == nil {
		l.t.Fatalf("%s is not held by the program under test", address)
	}
	select {
	case h.lost <- code:
	default:
		l.t.Fatalf("%s is lost already", address)
	}
}

// Slow has every acquisition from now on take d.
func (l *Locks) Slow(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slow = d
}

// IsHeld reports whether the program under test, or somebody else, holds a lock.
func (l *Locks) IsHeld(address string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held[address] != nil
}

// Taken returns how often the program under test has acquired a lock.
func (l *Locks) Taken(address string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken[address]
}

// take takes all of some locks, or none.
func (l *Locks) take(locks []string, h *holder) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, lock := range locks {
		if l.held[lock] != nil {
			return false
		}
	}
	for _, lock := range locks {
		l.held[lock] = h
		if h.lost != nil {
			l.taken[lock]++
			l.tokens[lock]++
		}
	}
	return true
}

// free frees the locks of a holder.
func (l *Locks) free(h *holder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for lock, by := range l.held {
		if by == h {
			delete(l.held, lock)
		}
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

// help lives like a helper.
func (l *Locks) help(args, locks []string, stdin, stdout *os.File) {
	begun := time.Now()
	say := func(line protocol.Line) {
		if text, err := line.Format(); err == nil {
			_, _ = stdout.WriteString(text)
		}
	}
	wanted, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = bufio.NewReader(stdin).ReadByte() // nothing is written, so this waits for the end
		cancel()
	}()
	for i, lock := range locks {
		locks[i] = strings.TrimPrefix(strings.TrimPrefix(lock, "exclusive:"), "shared:")
	}
	h := &holder{lost: make(chan client.Code, 1)}
	locks, code := l.await(wanted, args, locks, h)
	if code != "" {
		say(protocol.Failure(protocol.WordErr, code, locks[0]+": held by somebody else").With("holder", "somebody").WithWaited(time.Since(begun)))
		return
	}
	defer l.free(h)
	held := time.Now()
	say(l.grant(locks, held.Sub(begun)))
	select {
	case <-wanted.Done():
		l.free(h)
		say(protocol.Released(time.Since(held)))
	case code := <-h.lost:
		l.free(h)
		say(protocol.Failure(protocol.WordLost, code, locks[0]+": lost: the test says so"))
		<-wanted.Done()
	}
}

// await waits until it holds the locks, or one of them with --any, and returns which; or it
// returns a code that says why not.
func (l *Locks) await(wanted context.Context, args, locks []string, h *holder) ([]string, client.Code) {
	l.mu.Lock()
	slow := l.slow
	l.mu.Unlock()
	select {
	case <-time.After(slow):
	case <-wanted.Done():
		return locks, client.CodeCancelled
	}
	ctx, cancel := context.WithTimeout(wanted, timeout(args))
	defer cancel()
	for {
		l.mu.Lock()
		changed := l.changed
		l.mu.Unlock()
		for _, try := range tries(args, locks) {
			if l.take(try, h) {
				return try, ""
			}
		}
		if timeout(args) == 0 {
			return locks, client.CodeHeld
		}
		select {
		case <-changed:
		case <-ctx.Done():
			if wanted.Err() != nil {
				return locks, client.CodeCancelled
			}
			return locks, client.CodeTimeout
		}
	}
}

// tries are the locks together, or each alone if one will do.
func tries(args, locks []string) (all [][]string) {
	if !slices.Contains(args, "--any") {
		return [][]string{locks}
	}
	for _, lock := range locks {
		all = append(all, []string{lock})
	}
	return all
}

// timeout is the last one in the arguments.
func timeout(args []string) time.Duration {
	for i := len(args) - 2; i >= 0; i-- {
		if args[i] == "--timeout" {
			d, _ := time.ParseDuration(args[i+1])
			return d
		}
	}
	return 1 << 62
}

// lease is long: nothing is ever silent here.
const lease = time.Hour

func (l *Locks) grant(locks []string, waited time.Duration) protocol.Line {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := protocol.Grant{Mode: "exclusive", Waited: waited, Lease: lease, Lock: strings.Join(locks, "\n")}
	var ids []string
	for _, lock := range locks {
		ids = append(ids, fmt.Sprintf("fake-%s-%d", lock, l.tokens[lock]))
		g.Tokens = append(g.Tokens, l.tokens[lock])
	}
	if g.ID = strings.Join(ids, ","); len(locks) == 1 {
		g.Token, g.Tokens = g.Tokens[0], nil
	}
	return g.Line()
}
