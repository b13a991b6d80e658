package etcd

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/owner"
	"locksmith/backends/shelf"
	"locksmith/backends/watch"
)

// An attempt implements backend.Attempt.
type attempt struct {
	*lock
	request backend.Request
	others  watch.Others[entry]
	began   time.Duration // when Try was called
	mine    entry         // our key; it has no lease: we have none
	renewed time.Duration // when the last request was sent that began our lease anew
	spoiled bool          // a request that revokes our lease was sent, which must not hit a holder later
	// What Wait waits for: the end of behind, which was there at this revision, or of a process.
	behind   entry
	revision int64
	records  []owner.Record
	due      time.Duration // when one of them may be broken
}

// Attempt implements backend.Backend.
func (l *lock) Attempt(r backend.Request) (backend.Attempt, error) {
	r, err := r.Checked(l.Name, "a lock in etcd", "exclusive", "shared")
	l = l.within(r.Owner.Lease)
	return &attempt{lock: l, request: r, others: watch.NewOthers(r, l.see)}, err
}

// Try implements backend.Attempt.
func (a *attempt) Try(ctx context.Context) (backend.Hold, error) {
	a.began = a.request.Clock.Now()
	h, err := backend.Retry(ctx, backend.Races, func() (backend.Hold, error) { return a.try(ctx) })
	if errors.Is(err, backend.ErrAgain) {
		err = &backend.HeldError{Lock: string(a.Name), Holder: backend.Holder{Verdict: owner.Unknown, Note: "others took turns while we looked"}}
	}
	return h, err
}

func (a *attempt) try(ctx context.Context) (backend.Hold, error) {
	if a.spoiled {
		if err := a.Withdraw(ctx); err != nil {
			return nil, err
		}
	}
	if a.mine.lease == 0 && a.request.Timeout == 0 { // a try that does not wait takes a place only if that has the lock
		if v, err := a.look(ctx, clientv3.WithKeysOnly()); err != nil || len(a.before(v)) > 0 {
			return nil, a.refused(ctx, v, err)
		}
	}
	v, err := a.enter(ctx)
	if errors.Is(err, rpctypes.ErrLeaseNotFound) { // it ended on the way, or while we waited
		a.mine, err = entry{}, backend.ErrAgain
	}
	if err != nil {
		return nil, err
	}
	i := v.find(a.mine.id)
	//rule:own
	if i < 0 || a.mine.created > 0 && v.line[i].created != a.mine.created {
		return nil, errors.Join(a.Withdraw(ctx), backend.ErrAgain) // somebody removed our key
	}
	a.mine.created = v.line[i].created
	//rule:before
	if len(a.before(v)) > 0 {
		return nil, a.refused(ctx, v, nil)
	}
	return a.win(ctx, v)
}

// enter makes our key, unless it is there, and looks. By then our lease has begun in this Try. The
// error is rpctypes.ErrLeaseNotFound if there is no such lease any more.
func (a *attempt) enter(ctx context.Context) (v view, err error) {
	switch {
	case a.mine.lease == 0:
		err = a.sign(ctx)
	case a.mine.created == 0:
		err = a.renewNow(ctx)
	default: // whoever sees our key after this was sent sees it under the lease
		renewed := make(chan error, 1)
		go func() { renewed <- a.renewNow(ctx) }()
		v, err = a.lookFirst(ctx)
		return v, cmp.Or(<-renewed, err)
	}
	if err != nil {
		return v, err
	}
	put, token := clientv3.OpPut(a.mine.key, a.mine.record, clientv3.WithLease(a.mine.lease)), clientv3.OpPut(a.prefix+tokenName, "")
	absent := []clientv3.Cmp{there(a.mine.key, 0)} // for what is executed twice
	// Whoever finds nobody has the lock with this very transaction, and the token is its revision.
	free := []clientv3.Cmp{none(a.prefix + exclusive), none(a.prefix + shared)}
	if a.mine.mode == shared {
		free = append(absent, none(a.prefix+exclusive))
		isTheirs := clientv3.Compare(clientv3.Value(a.prefix+tokenName), ">", "r") // it begins with sharers
		token = clientv3.OpTxn([]clientv3.Cmp{isTheirs}, nil, []clientv3.Op{clientv3.OpPut(a.prefix+tokenName, sharers)})
	}
	return a.decide(ctx, "make our key", free, []clientv3.Op{put, token}, []clientv3.Op{clientv3.OpTxn(absent, []clientv3.Op{put}, nil)}, clientv3.WithKeysOnly())
}

// renewNow renews our lease, unless it has begun in this Try.
func (a *attempt) renewNow(ctx context.Context) error {
	//rule:renew
	if a.renewed < a.began {
		return a.renewOurs(ctx)
	}
	return nil
}

// lookFirst looks. If we want the lock alone and nobody is before us, the same transaction writes our
// token. It compares all keys from the first name that a place in the line may have to the last. If a
// stranger's key is among them and older than ours, win writes the token with a request of its own.
func (a *attempt) lookFirst(ctx context.Context) (view, error) {
	if a.mine.mode == shared {
		return a.look(ctx, clientv3.WithKeysOnly())
	}
	first := []clientv3.Cmp{there(a.mine.key, a.mine.created), clientv3.Compare(clientv3.CreateRevision(a.prefix+shared).WithRange(clientv3.GetPrefixRangeEnd(a.prefix+exclusive)), ">", a.mine.created-1)}
	token := clientv3.OpPut(a.prefix+tokenName, strconv.FormatInt(a.mine.created, 10))
	return a.decide(ctx, "look at the lock", first, []clientv3.Op{token}, nil, clientv3.WithKeysOnly())
}

// sign gets a lease, and names our key.
func (a *attempt) sign(ctx context.Context) error {
	r, text, err := backend.Signed(a.Name, a.Env, a.request.Owner, owner.Record.Format)
	if err != nil {
		return err
	}
	mode := exclusive
	if r.Mode == "shared" {
		mode = shared
	}
	a.renewed = a.request.Clock.Now()
	lease, err := a.grant(ctx, r.Lease)
	if err == nil {
		a.mine = entry{key: a.prefix + mode + r.ID, mode: mode, id: r.ID, lease: lease.ID, record: text}
	}
	return err
}

func (a *attempt) renewOurs(ctx context.Context) error {
	sent := a.request.Clock.Now()
	err := a.renew(ctx, a.mine.lease)
	if err == nil {
		a.renewed = sent
	}
	return err
}

// before returns who is in our way: whoever came before us, or of them only those who want the lock
// alone, if we would share it.
func (a *attempt) before(v view) (some []entry) {
	for _, e := range v.line {
		if e.id == a.mine.id {
			break
		} else if a.request.Owner.Mode == "exclusive" || e.mode == exclusive {
			some = append(some, e)
		}
	}
	return some
}

// win makes the lock's token known, unless the transaction that made our key did so.
func (a *attempt) win(ctx context.Context, v view) (backend.Hold, error) {
	h := &hold{lock: a.lock, mine: a.mine, token: uint64(a.mine.created), others: a.others}
	h.seen.Store(v.revision)
	key, value := a.prefix+tokenName, strconv.FormatInt(a.mine.created, 10)
	ours := []clientv3.Cmp{there(a.mine.key, a.mine.created)}
	//rule:token
	if a.mine.mode == shared && v.sharing {
		h.token = v.written
	} else if a.mine.mode == shared { // whoever waits for the lock alone has a greater revision
		value, ours = sharers+value, append(ours, clientv3.Compare(clientv3.ModRevision(key), "=", v.marked))
	}
	if h.token == v.written && v.sharing == (a.mine.mode == shared) {
		return h, nil
	}
	r, err := a.transact(ctx, "write the token", ours, []clientv3.Op{clientv3.OpPut(key, value)}, nil)
	if err == nil && !r.Succeeded {
		err = backend.ErrAgain // our key is gone, or another sharer was faster
	}
	if err != nil {
		return nil, err
	}
	return h, nil
}

// refused breaks who is proven dead, and then returns backend.ErrAgain. Else it remembers what to wait
// for, and returns who has the lock, or who waits for it alone while others share it, as we would.
func (a *attempt) refused(ctx context.Context, v view, err error) error {
	if err != nil {
		return err
	}
	const maxLooks = 32 // at those who share the lock
	a.others.Keep(func(name string) bool {
		return slices.ContainsFunc(v.line, func(e entry) bool { return e.key == name })
	})
	before, holding := a.before(v), v.holding()
	a.behind, a.revision, a.records, a.due = before[len(before)-1], v.revision, nil, watch.Never
	held := &backend.HeldError{Lock: string(a.Name), Yielding: a.request.Owner.Mode == "shared" && v.line[0].mode == shared}
	var looks []entry
	if !held.Yielding {
		looks = slices.Clone(v.line[:min(holding, maxLooks)])
	}
	next := !slices.Contains(looks, a.behind) // somebody waits before us
	if next {
		looks = append(looks, a.behind)
	}
	if err := a.read(ctx, looks); err != nil {
		return err
	}
	for i, e := range looks {
		s, err := a.others.Look(ctx, e)
		switch {
		case err != nil:
			return err
		//rule:lives
		case s.Due <= 0:
			if err := a.strike(ctx, e); err != nil && !errors.Is(err, backend.ErrGone) {
				return err
			} else if err == nil && v.find(e.id) < holding { // it may have let go, and ended, since it was read
				a.request.TellBroken(string(a.Name), s.Holder(a.Today()))
			}
			return backend.ErrAgain
		case i == 0:
			held.Holder = a.holder(s.Seen, e)
		}
		if s.Record != nil && s.Verdict != owner.Unknown && s.Verdict != owner.Dead { // who is dead, but not due, is waited for by the clock
			if next && i == len(looks)-1 { // who waits before us on this host sees to the others, and one death wakes one waiter
				a.records = nil
			}
			a.records = append(a.records, *s.Record)
		}
		a.due = min(a.due, s.Due)
	}
	held.Ahead = len(slices.DeleteFunc(before, func(e entry) bool { return v.find(e.id) < holding }))
	return held
}

// read reads the records of some. Its error is ErrAgain if one is not there any more.
func (l *lock) read(ctx context.Context, some []entry) error {
	var gets []clientv3.Op
	for _, e := range some {
		gets = append(gets, clientv3.OpGet(e.key))
	}
	r, err := l.transact(ctx, "read records", nil, gets, nil)
	if err != nil {
		return err
	}
	for i, answer := range r.Responses {
		kvs := answer.GetResponseRange().GetKvs()
		if len(kvs) == 0 {
			return backend.ErrAgain
		}
		some[i].record, some[i].lease = string(kvs[0].Value), clientv3.LeaseID(kvs[0].Lease)
	}
	return nil
}

// see judges what was read of somebody. The cluster judges leases: we break only who is proven dead.
func (l *lock) see(_ context.Context, w *watch.Watcher, of *entry, _ watch.Seen) (watch.Seen, error) {
	s := l.seenBy(*of)
	if s.Verdict == owner.Dead {
		s.Rules = []watch.Rule{w.Rule(s.Verdict, 0)}
	}
	return s, nil
}

// seenBy is what an entry's record shows.
func (l *lock) seenBy(e entry) watch.Seen {
	s := watch.Seen{ID: e.id}
	if s.Record, s.Note = owner.RecordOf(e.id, e.record); s.Record != nil {
		s.Lease, s.Since = s.Record.Lease, s.Record.Acquired
	}
	s.Verdict = l.Verdict(s.Record)
	return s
}

// holder describes for people what was seen. Nothing ends a key without a lease, unless one of ours does.
func (l *lock) holder(s watch.Seen, e entry) backend.Holder {
	h := s.Holder(l.Today())
	if e.lease == clientv3.NoLease && h.Verdict != owner.Alive && h.Verdict != owner.Dead {
		h.Blocked, h.Advice = true, "its key has no lease, so it was made or rewritten by hand: make sure that nobody needs it, and then remove it: locksmith break --force --id "+e.id+" "+backend.ShellWord(string(l.Name))
	}
	return h
}

// Wait implements backend.Attempt. Nothing is sent while it sleeps, but what keeps our own lease.
func (a *attempt) Wait(ctx context.Context) error {
	const keepEvery = 3 // of a lease is the part after which it is renewed
	asleep, wake := context.WithCancel(ctx)
	defer wake()
	if a.mine.created == 0 {
		wake() // nobody was seen: the next Try tells
	} else {
		since := a.revision                                      // of this wait
		for _, key := range []string{a.behind.key, a.mine.key} { // an operator may break us, too
			go func() {
				if a.watch(asleep, key, since) != nil {
					clock.Sleep(asleep, a.request.Clock, lastPause) // or tries would follow each other without a pause
				}
				wake() // the next Try tells
			}()
		}
	}
	for _, r := range a.records {
		p := a.ProcessToWatch(&r)
		if p.PID == 0 && a.Verdict(&r) == owner.Dead { // it has died since that look
			wake()
		}
		go p.Await(asleep, wake)
	}
	until := a.request.Clock.Now()
	until += min(a.due, watch.Never-until)
	for asleep.Err() == nil {
		next := min(a.renewed+a.request.Owner.Lease/keepEvery, until)
		clock.Sleep(asleep, a.request.Clock, next-a.request.Clock.Now())
		if now := a.request.Clock.Now(); now >= until || now >= next && a.renewOurs(asleep) != nil {
			break // the next Try tells
		}
	}
	return ctx.Err()
}

// Withdraw implements backend.Attempt. The lease is never used again. So a request to make our key
// that is executed later makes none.
func (a *attempt) Withdraw(ctx context.Context) (err error) {
	if a.spoiled = a.mine.lease != 0; a.spoiled {
		if err = a.revoke(ctx, a.mine.lease); err == nil {
			a.mine, a.spoiled = entry{}, false
		}
	}
	return err
}

// A hold is a key that nobody is before. It implements backend.Hold.
type hold struct {
	*lock
	mine    entry
	token   uint64
	others  watch.Others[entry] // for Tend only
	leaving bool                // a request that revokes our lease was sent
	seen    atomic.Int64        // the last revision at which our key was seen there
	bare    bool                // somebody wrote our key anew, and it does not end with our lease
	tended  int
}

func (h *hold) ID() string    { return h.mine.id }
func (h *hold) Token() uint64 { return h.token }

// Heartbeat implements backend.Hold.
func (h *hold) Heartbeat(ctx context.Context) error {
	//rule:renew
	if err := h.renew(ctx, h.mine.lease); err != nil {
		return h.gone(ctx, "renew our lease", err)
	}
	return h.held(ctx, "renew our lease")
}

// held looks whether the lock still is ours.
func (h *hold) held(ctx context.Context, op string) error {
	//rule:read
	kv, revision, err := h.get(ctx, h.mine.key)
	if err == nil && kv.CreateRevision != h.mine.created {
		err = errAbsent
	}
	if err == nil {
		h.seen.Store(revision)
		h.bare = kv.Lease != int64(h.mine.lease)
	}
	return h.gone(ctx, op, err)
}

// gone removes what is left of a hold that is lost, if that is what err says.
func (h *hold) gone(ctx context.Context, op string, err error) error {
	if !errors.Is(err, errAbsent) && !errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return err
	}
	_ = h.revoke(ctx, h.mine.lease)
	return h.Gone(op, "somebody broke the lock, removed its key or revoked its lease, or the lease was over")
}

// Release implements backend.Hold. If it is called again after an answer was lost, that our key is
// gone is no loss: we removed it ourselves.
func (h *hold) Release(ctx context.Context) error {
	//rule:look
	if !h.leaving {
		if err := h.held(ctx, "remove our key"); err != nil {
			return err
		}
		if h.bare {
			if err := h.strike(ctx, h.mine); err != nil {
				return err
			}
		}
	}
	h.leaving = true
	return h.revoke(ctx, h.mine.lease)
}

// Tend implements backend.Hold. The cluster itself removes what crashed waiters leave.
func (h *hold) Tend(ctx context.Context) error {
	const every = 16 // calls are one pass
	if h.tended++; h.tended%every != 1 {
		return nil
	}
	return shelf.Tidy(ctx, h.lock, h.others.Watcher)
}

// Alarm implements backend.AlarmedHold.
func (h *hold) Alarm(ctx context.Context, wake func()) {
	_ = h.watch(ctx, h.mine.key, h.seen.Load()) // a heartbeat tells
	wake()
}
