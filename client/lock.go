package client

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"locksmith/protocol"
)

// A Lock is a lock that this program holds, or held. Its methods may be called
// from several goroutines at once.
type Lock struct {
	address string
	given   []string // the addresses as they were given
	index   int
	waited  time.Duration
	grant   protocol.Grant
	helper  *helper
	ctx     context.Context
	cancel  context.CancelCauseFunc
	lost    chan struct{}
	ended   chan struct{} // closed after the helper's last line
	asked   atomic.Bool   // Release was called
	told    bool          // the helper has told of a loss; only listen uses it

	mu       sync.Mutex
	err      *LostError
	released bool
	held     time.Duration
}

func newLock(ctx context.Context, address string, given []string, h *helper, ok protocol.Line) (*Lock, error) {
	grant, err := protocol.ParseGrant(ok)
	if err != nil {
		return nil, err
	}
	l := &Lock{address: address, given: given, grant: grant, helper: h, lost: make(chan struct{}), ended: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancelCause(context.WithValue(ctx, lockKey{}, l))
	if h.serving != nil {
		h.serving.worker.mu.Lock()
		h.serving.granted = true
		h.serving.worker.mu.Unlock()
	}
	go l.listen()
	return l, nil
}

// Address returns the address the lock was acquired by; of a set, a few of them. With the option
// [Or] it is the one that is held, in its canonical spelling.
func (l *Lock) Address() string { return l.address }

// Index returns which of the addresses the lock has, with the option [Or]: 0 is that of the call, and
// those of the option follow. It is -1 if the helper does not say, and 0 without the option.
func (l *Lock) Index() int { return l.index }

// ID returns the name of this acquisition. No other ever has the same. That of a set is the ids of its locks,
// separated by commas, or empty if the set is very large.
func (l *Lock) ID() string { return l.grant.ID }

// Token returns the fencing token, which rises with every holder, or 0 where the kind of lock
// has none. The option [Fenced] refuses such a lock. A kind that has tokens counts them in the
// lock's place. If the lock is removed there, with its directory or by locksmith remove, they
// begin anew at 1. Then what the lock guards remembers a greater one, and refuses every holder
// until somebody sets it back. Of a set see [Lock.Tokens].
func (l *Lock) Token() uint64 { return l.grant.Token }

// Tokens returns the fencing tokens of a set in the order in which its addresses were
// given, 0 where the backend has none; of a single lock, its token alone.
func (l *Lock) Tokens() []uint64 {
	if l.grant.Tokens == nil {
		return []uint64{l.grant.Token}
	}
	return slices.Clone(l.grant.Tokens)
}

// lockKey is the key of the lock among a context's values.
type lockKey struct{}

// FromContext returns the lock of a context that is, or comes from, [Lock.Context], as that of the
// function that [Do] calls does. Of locks within each other it is the innermost. It is nil if ctx is
// for no lock.
func FromContext(ctx context.Context) *Lock {
	l, _ := ctx.Value(lockKey{}).(*Lock)
	return l
}

// Waited returns how long it took to get the lock, from the call on.
func (l *Lock) Waited() time.Duration { return l.waited }

// HeldFor returns how long the lock was held, once [Lock.Release] has returned in good order, else 0.
func (l *Lock) HeldFor() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held
}

// Lost returns a channel that is closed when the lock is lost. It stays open
// after a Release in good order.
func (l *Lock) Lost() <-chan struct{} { return l.lost }

// Context returns a context for what is done under the lock. It has the values of the context that
// the lock was acquired with, and ends with that, and when the lock is lost, with the *LostError as
// the cause, or released, with ErrReleased.
func (l *Lock) Context() context.Context { return l.ctx }

// Err returns the *LostError of a lost lock, else nil.
func (l *Lock) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		return nil
	}
	return l.err
}

// ReleaseContext is [Lock.Release] that waits no longer than until ctx ends. Then the error wraps
// that of ctx and its cause. The helper goes on with the release for as long as [KillAfter] says. If
// it cannot release, that is a loss, which [Lock.Lost] and [Lock.Err] tell.
func (l *Lock) ReleaseContext(ctx context.Context) error {
	released := make(chan error, 1)
	go func() { released <- l.Release() }()
	select {
	case err := <-released:
		return err
	case <-ctx.Done():
		l.cancel(ErrReleased) // the other goroutine may not have done it yet
		return fmt.Errorf("%s: release: not finished yet: %w", l.address, ended{ctx})
	}
}

// Release gives the lock up, and returns when it has been removed. A helper that does not end
// within the time of the option [KillAfter] is killed. Whoever calls Release has stopped
// its work. So if somebody killed the helper, Release itself removes the lock, by its id, and this
// program need not wait for the lease of its own lock. The error is the *LostError if the lock was lost
// before or cannot be removed, or ErrReleased if Release was called before. Once a loss is known,
// Release hardly waits: the helper ends, and what it left is removed, behind the call.
func (l *Lock) Release() error {
	if l.asked.Swap(true) {
		return ErrReleased
	}
	l.cancel(ErrReleased) // before another process can have the lock
	over := make(chan struct{})
	go func() {
		defer close(over)
		l.helper.end(l.helper.grace)
		<-l.ended
		if l.helper.died.Load() {
			l.breakRemains()
		}
	}()
	select {
	case <-over:
		return l.Err()
	case <-l.lost:
	}
	select {
	case <-over:
	case <-time.After(lastWords):
	}
	return l.Err()
}

func (l *Lock) wasReleased() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.released
}

// loseHelper records a loss at the end of the helper's lines, unless the helper has released
// before.
func (l *Lock) loseHelper(err error) {
	if l.wasReleased() {
		return
	}
	l.helper.died.Store(!l.told || l.helper.killed.Load())
	switch {
	case l.helper.killed.Load():
		l.lose(protocol.Unreleased, fmt.Sprintf("%s: release: the helper did not end within %v and was killed; if the lock cannot be removed by its id now, it frees itself when its lease is over", l.address, l.helper.grace))
	default:
		l.lose(protocol.Internal, fmt.Sprintf("%s: lost: the helper went away without releasing: %v", l.address, err))
	}
}

// checkStatus records a loss if the helper released the lock before Release asked it to, though its
// line was read after that. The helper's exit status tells.
func (l *Lock) checkStatus() {
	if l.wasReleased() && l.helper.isTooSoon() {
		l.lose(protocol.Gone, l.address+": lost: the helper released it before it was asked to; did it get a signal?")
	}
}

// lose records the first loss.
func (l *Lock) lose(code protocol.Code, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	l.err = &LostError{Lock: l.address, Code: code, Text: text}
	l.cancel(l.err)
	close(l.lost)
}

// listen reads the helper's lines after OK. A stopped helper cannot tell that the lease runs
// out, so a watchdog does. The watchdog looks again a little later, as perhaps it was this
// process that did not run.
func (l *Lock) listen() {
	defer close(l.ended)
	lease := l.grant.Lease
	watchdog := time.NewTimer(believed(lease, 0, l.lateness()))
	defer watchdog.Stop()
	suspicious, last := false, time.Now()
	for {
		select {
		case r, ok := <-l.helper.lines:
			if !ok {
				l.checkStatus()
				return
			}
			if ago, isBeat := l.hear(r); isBeat {
				gap := time.Since(last)
				if last = time.Now(); gap < backlog(lease) {
					continue
				}
				suspicious = false
				watchdog.Reset(believed(lease, ago, gap))
			}
		case <-watchdog.C:
			if suspicious {
				l.lose(protocol.Expired, fmt.Sprintf("%s: lost: the helper has not been heard of for most of the lease of %v", l.address, lease))
				continue
			}
			suspicious = true
			watchdog.Reset(lease / 16)
		}
	}
}

// lateness is for how long the helper's OK may have waited in the pipe for us to read it: all the time
// since the helper was asked, but for what the helper says that it waited. This process may have been
// stopped since.
func (l *Lock) lateness() time.Duration {
	if l.helper.begun.IsZero() { // a fake
		return 0
	}
	return time.Since(l.helper.begun) - l.grant.Waited
}

// backlog is how soon after another heartbeat one comes that, like it, has waited in the pipe
// for us to read it. Such a heartbeat says nothing new. A helper sends them at least a second
// apart, or a quarter of a short lease, however long the lease is.
func backlog(lease time.Duration) time.Duration { return min(lease/64, time.Second/4) }

// believed is for how long a heartbeat counts, or OK. It says how long ago it was sent, and comes gap
// after the one before. Usually it counts for protocol.StopAfter(lease). If this process was
// stopped, it may have come at any time in the gap. So it counts no longer than a lease from the
// beginning of the gap, or else until the next one should come.
func believed(lease, ago, gap time.Duration) time.Duration {
	return min(protocol.StopAfter(lease)-ago, max(lease-gap, protocol.StopAfter(lease)/2))
}

// hear takes one line. It returns how old a heartbeat is if it was one. It ignores unknown
// words.
func (l *Lock) hear(r reading) (ago time.Duration, isBeat bool) {
	switch {
	case r.err != nil:
		l.loseHelper(r.err)
	case r.line.Word == protocol.WordBeat:
		ago, err := r.line.Millis("sent_ms")
		return ago, err == nil
	case r.line.Word == protocol.WordReleased:
		l.helper.hurry(time.Now())          // nothing follows, whoever keeps the pipe open
		held, _ := r.line.Millis("held_ms") // for people; if missing, it is 0
		l.mu.Lock()
		l.released, l.held = true, held
		l.mu.Unlock()
		if !l.asked.Load() || r.line.IsEarly() {
			l.lose(protocol.Gone, fmt.Sprintf("%s: lost: the helper released it before it was asked to; did it get a signal?", l.address))
		}
	case r.line.Word == protocol.WordLost:
		l.told = true
		l.lose(protocol.Code(r.line.Value("code")), r.line.Text)
	}
	return 0, false
}
