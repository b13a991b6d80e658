package client

import (
	"context"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

// A Pool keeps helpers that serve one lock after another, for services that take many locks: then
// a lock costs no process. Every lock that is held still has a helper of its own. The zero Pool and
// a nil one keep no helpers, and may be used. A Pool must not be copied. Its methods may be called from
// several goroutines.
//
//	var locks = client.Pool{Size: 8}
//	err := locks.Do(ctx, client.Key("local:/var/lock/customers", customer), work)
//
// If no helper is free, or if such a helper cannot do what is asked, the Pool starts a process,
// as the functions of the package do. Such a helper cannot have locks on servers, the options
// [Slog], [Waiting], [Wait] and [Helper], or requests of more than 4 KiB. It is not used after a
// change of this process's directory, environment or user, nor in a child after a fork.
type Pool struct {
	// Size is how many helpers wait or hold a lock, at most. They are started with the first lock,
	// before they are needed. Let it be the usual number of locks that are held at a time: of 64
	// requests at once a machine of 2 processors, busy with other work, served all in 5.5 s without a
	// pool, in 3.8 s with one of 8, and in 0.26 s with one of 64 (test/bench of locksmith).
	Size int

	mu       sync.Mutex
	idle     []*worker // the one that was used last comes last
	live     int       // the helpers that are started, or being started
	closed   bool
	unfit    bool // the program serves only one lock
	identity *identity
}

// An identity is what a helper has from its start, and a lock's address may depend on.
type identity struct {
	pid, uid, gid int
	dir           string
	env           []string
}

func identify() *identity {
	dir, _ := os.Getwd()
	return &identity{os.Getpid(), os.Geteuid(), os.Getegid(), dir, os.Environ()}
}

func (i *identity) is(j *identity) bool {
	return i.pid == j.pid && i.uid == j.uid && i.gid == j.gid && i.dir == j.dir && slices.Equal(i.env, j.env)
}

// Do is [Do] of the package with a helper of the pool.
func (p *Pool) Do(ctx context.Context, address string, work func(ctx context.Context) error, options ...Option) error {
	l, err := p.Acquire(ctx, address, options...)
	if err != nil {
		return err
	}
	return l.do(ctx, work)
}

// Acquire is [Acquire] of the package with a helper of the pool.
func (p *Pool) Acquire(ctx context.Context, address string, options ...Option) (*Lock, error) {
	c, err := configure(ctx, p, address, options)
	if err != nil {
		return nil, err
	}
	return acquire(ctx, c)
}

// TryAcquire is [TryAcquire] of the package with a helper of the pool.
func (p *Pool) TryAcquire(ctx context.Context, address string, options ...Option) (*Lock, error) {
	return p.Acquire(ctx, address, append(options[:len(options):len(options)], Timeout(0))...)
}

// Close ends the helpers that wait, and keeps none from now on. Locks that are held stay, each
// with its helper until it is released. The pool can still be used, as if it had no size.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, w := range idle {
		w.retire()
	}
	for _, w := range idle {
		<-w.process.exited
	}
}

// spare returns a helper that waits, or nil. It has missing helpers started.
func (p *Pool) spare() *worker {
	now := identify()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.unfit {
		return nil
	}
	if p.identity == nil {
		p.identity = now
	}
	if !p.identity.is(now) {
		return nil
	}
	for ; p.live < p.Size; p.live++ {
		go p.hire()
	}
	if n := len(p.idle); n > 0 {
		w := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return w
	}
	return nil
}

// hire starts a helper, and adds it to the others when it is ready.
func (p *Pool) hire() {
	w, err := p.start()
	if err != nil {
		p.mu.Lock()
		p.live--
		p.unfit = p.unfit || err == errOnlyOne
		p.mu.Unlock()
		return
	}
	p.put(w)
}

// put lets a helper wait for the next lock, or end.
func (p *Pool) put(w *worker) {
	p.mu.Lock()
	stays := !p.closed && !w.isWorn()
	if stays {
		p.idle = append(p.idle, w)
	}
	p.mu.Unlock()
	if !stays {
		w.retire()
	}
}

// drop notes that a helper has ended.
func (p *Pool) drop(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live--
	p.idle = slices.DeleteFunc(p.idle, func(v *worker) bool { return v == w })
}

const (
	// mostServed and longestServed are how many locks a helper serves before it is replaced, and for
	// how long. Both are less than those after which a helper ends by itself.
	mostServed    = 4000
	longestServed = 50 * time.Minute
	// begins is how long a helper that waits may take to begin. A helper that does not begin by then
	// is stopped, or starved: it is ended before another is asked.
	begins = time.Second
	// looksAgain is how long to look for the answer after that, in case it was this process that was
	// stopped or starved.
	looksAgain = begins / 8
)

// seat returns the helper of one acquisition, or nil if the pool has none for it.
func (c *config) seat(ctx context.Context, args []string) *helper {
	p := c.pool
	if p == nil || c.asks() || c.log != nil || len(c.helper) > 0 {
		return nil
	}
	for range p.Size + 1 {
		w := p.spare()
		if w == nil {
			return nil
		}
		h, err := w.serve(ctx, args, c.grace)
		switch err {
		case nil:
			return h
		case errEnded:
			continue
		case errNotHere:
			p.put(w)
		}
		return nil // after a helper that did not begin, the next may be stopped, too; a new process is not
	}
	return nil
}

// start starts a helper for the pool, and returns when it is ready.
func (p *Pool) start() (*worker, error) {
	c := config{grace: defaultGrace}
	cmd, err := c.find("a pool of helpers")
	if err != nil {
		return nil, err
	}
	h := &helper{cmd: cmd, program: cmd.Args, lines: make(chan reading, 1), exited: make(chan struct{}), grace: c.grace}
	cmd.Env = append(cmd.Environ(), singleproc)
	cmd.Args = append(slices.Clone(cmd.Args), "hold", "--again", "--parent", strconv.Itoa(os.Getpid()), "--stdin", "watch", "--beats", "--log-level", "off")
	if err := h.spawn(nil); err != nil {
		return nil, err
	}
	return newWorker(p, h)
}
