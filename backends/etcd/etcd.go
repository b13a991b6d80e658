package etcd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/backends/owner"
	"locksmith/backends/servers"
	"locksmith/backends/shelf"
	"locksmith/protocol"
)

// A lock is the keys below one prefix. It implements backend.Backend.
type lock struct {
	owner.Env
	*cluster
	prefix string // it ends in a slash, or is "" for all that the cluster has, which is a place and no lock
}

// Open returns the lock at an address of this scheme. It does not connect yet. Its errors are
// *backend.Error.
func Open(a backend.Address, access backend.Access) (backend.Backend, error) {
	const maxPath = 900 // everybody who waits lists the keys
	if err := a.CheckOptions(map[string][]string{"tls": {"yes", "no"}}); err != nil {
		return nil, err
	} else if len(a.Path) > maxPath {
		return nil, a.Wrong(errors.New("the prefix is too long"), "shorten it")
	}
	prefix := a.OnServer()
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	return &lock{owner.NewEnv(), &cluster{Name: a.Name(), address: a, access: access, line: new(line)}, prefix}, nil
}

// Key is what is the same for all spellings of a lock's address. All users of a cluster see the same
// keys, and the order of its members means nothing.
func Key(a backend.Address) string {
	hosts := a.Hosts()
	slices.Sort(hosts)
	return a.Scheme + "://" + strings.Join(slices.Compact(hosts), ",") + a.Path
}

// The names of keys below the prefix. The first two are followed by an id.
const exclusive, shared, tokenName, shelfName = "x.", "s.", "locksmith.token", "locksmith.shelf"

// sharers begins what is written to locksmith.token for who shares the lock.
const sharers = "s"

// An entry is the key of a holder or a waiter.
type entry struct {
	key, mode, id string
	created       int64 // the create revision
	lease         clientv3.LeaseID
	record        string // if it is known
}

// String names the entry for package watch.
func (e entry) String() string { return e.key }

// named returns the entry that a key below the prefix is, if it is one.
func named(name string) (mode, id string, ok bool) {
	mode, id = name[:min(len(name), 2)], name[min(len(name), 2):]
	return mode, id, (mode == exclusive || mode == shared) && owner.IsID(id)
}

// A view is all that there was of a lock at one revision.
type view struct {
	line     []entry // in the order in which they came
	revision int64
	token    uint64 // the newest; 0: none yet
	written  uint64 // what locksmith.token says, which may be older
	marked   int64  // the revision that wrote it; 0: none did
	sharing  bool   // it was for who shares the lock
	slips    shelf.Texts
	shelved  int64 // the revision of the slips
}

// decide executes one of two lists of operations, and looks in the same transaction.
func (l *lock) decide(ctx context.Context, op string, conditions []clientv3.Cmp, yes, no []clientv3.Op, options ...clientv3.OpOption) (view, error) {
	options = append(options, clientv3.WithPrefix())
	looks := []clientv3.Op{clientv3.OpGet(l.prefix+exclusive, options...), clientv3.OpGet(l.prefix+shared, options...), clientv3.OpGet(l.prefix + tokenName), clientv3.OpGet(l.prefix + shelfName)}
	r, err := l.transact(ctx, op, conditions, append(yes, looks...), append(no, looks...))
	if err != nil {
		return view{}, err
	}
	return l.seen(r), nil
}

// seen is what the answer to a transaction shows. It leaves out what is not ours.
func (l *lock) seen(r *clientv3.TxnResponse) view {
	v := view{revision: r.Header.Revision}
	for _, answer := range r.Responses {
		for _, kv := range answer.GetResponseRange().GetKvs() {
			name := strings.TrimPrefix(string(kv.Key), l.prefix)
			switch mode, id, ok := named(name); {
			case ok:
				v.line = append(v.line, entry{string(kv.Key), mode, id, kv.CreateRevision, clientv3.LeaseID(kv.Lease), string(kv.Value)})
			case name == tokenName:
				digits, sharing := strings.CutPrefix(string(kv.Value), sharers)
				n, err := strconv.ParseUint(digits, 10, 64)
				if v.written, v.marked, v.sharing = n, kv.ModRevision, sharing; err != nil { // no number stands for the revision that wrote it
					v.written = uint64(kv.ModRevision)
				}
			case name == shelfName:
				_ = json.Unmarshal(kv.Value, &v.slips)
				v.shelved = kv.ModRevision
			}
		}
	}
	slices.SortFunc(v.line, func(e, f entry) int { return cmp.Compare(e.created, f.created) })
	if v.token = v.written; len(v.line) > 0 && v.line[0].mode == exclusive { // though it may not know yet
		v.token = max(v.token, uint64(v.line[0].created))
	}
	return v
}

// look looks. With clientv3.WithKeysOnly there are no records.
func (l *lock) look(ctx context.Context, options ...clientv3.OpOption) (view, error) {
	return l.decide(ctx, "look at the lock", nil, nil, nil, options...)
}

// find returns where an acquisition stands in the line, or -1.
func (v view) find(id string) int {
	return slices.IndexFunc(v.line, func(e entry) bool { return e.id == id })
}

// entry returns the entry of a hold of ours, or of one that has its id.
func (v view) entry(held backend.Hold) (e entry, ok bool) {
	if i := v.find(held.ID()); i >= 0 {
		e, ok = v.line[i], true
	}
	if h, ours := held.(*hold); ours {
		return h.mine, ok && e.created == h.mine.created
	}
	return e, ok
}

// holding is how many at the head of the line have the lock.
func (v view) holding() int {
	n := slices.IndexFunc(v.line, func(e entry) bool { return e.mode == exclusive })
	if n < 0 {
		n = len(v.line)
	}
	return max(n, min(len(v.line), 1))
}

// there is the condition that a key is there, since this revision; 0: that it is not there.
func there(key string, created int64) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(key), "=", created)
}

// none is the condition that no key begins so.
func none(prefix string) clientv3.Cmp { return there(prefix, 0).WithPrefix() }

// Read implements backend.Backend. All is of one revision, but for the ages of heartbeats.
func (l *lock) Read(ctx context.Context) (backend.Report, error) {
	const maxBeats = 32 // are asked for
	v, err := l.look(ctx)
	r := backend.Report{Token: v.token, Queued: true, Stays: len(v.line) > 0 || v.token > 0 || v.shelved > 0}
	shelf.Tell(ctx, &v.slips, &r, l.Today())
	for i, e := range v.line {
		h := l.holder(l.seenBy(e), e)
		h.Entry = e
		if i < maxBeats {
			h.Heartbeat, h.ByPlace = l.sinceBeat(ctx, e.lease)
		}
		if i < v.holding() {
			r.Holders = append(r.Holders, h)
		} else {
			r.Waiters = append(r.Waiters, h)
		}
	}
	return r, err
}

// NewestToken implements backend.Backend.
func (l *lock) NewestToken(ctx context.Context) (uint64, error) {
	v, err := l.look(ctx, clientv3.WithKeysOnly())
	return v.token, err
}

// Strike implements backend.Backend.
func (l *lock) Strike(ctx context.Context, h backend.Holder) error {
	//rule:named
	e, ok := h.Entry.(entry)
	if !ok {
		return backend.ErrGone
	}
	return l.strike(ctx, e)
}

// OnShelf implements shelf.Keeper. All slips are one value of JSON.
func (l *lock) OnShelf(ctx context.Context, held backend.Hold, use func(shelf.Shelf) error) error {
	const op = "write beside the lock"
	_, err := backend.Retry(ctx, backend.Races, func() (any, error) {
		v, err := l.look(ctx, clientv3.WithKeysOnly())
		if err != nil {
			return nil, err
		}
		before, _ := json.Marshal(v.slips)
		err = use(&v.slips)
		after, _ := json.Marshal(v.slips)
		if err != nil || string(before) == string(after) {
			return nil, err
		}
		same := []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(l.prefix+shelfName), "=", v.shelved)}
		if held != nil { // who has lost the lock records no success
			ours, ok := v.entry(held)
			if !ok {
				return nil, l.Gone(op, "somebody broke the lock, or its lease was over")
			}
			same = append(same, there(ours.key, ours.created))
		}
		r, err := l.transact(ctx, op, same, []clientv3.Op{clientv3.OpPut(l.prefix+shelfName, string(after))}, nil)
		if err == nil && !r.Succeeded {
			err = backend.Again(l.Failure(protocol.Unreachable, op, errors.New("others wrote there meanwhile"), servers.TryAgain))
		}
		return nil, err
	})
	return err
}

// Remove implements backend.Remover. Nothing stays, and tokens rise all the same.
func (l *lock) Remove(ctx context.Context, held backend.Hold) error {
	v, err := l.look(ctx, clientv3.WithKeysOnly())
	if err != nil {
		return err
	}
	ours, ok := v.entry(held)
	alone := []clientv3.Cmp{there(ours.key, ours.created)} // nobody has come since
	for _, mode := range []string{exclusive, shared} {
		alone = append(alone, clientv3.Compare(clientv3.CreateRevision(l.prefix+mode).WithPrefix(), "<", v.revision+1))
	}
	if !ok {
		err = l.Gone("remove the lock's keys", "it is ours no more")
	} else if len(v.line) > 1 {
		err = l.InUse("somebody came meanwhile")
	} else if r, failed := l.transact(ctx, "remove the lock's keys", alone, []clientv3.Op{clientv3.OpDelete(l.prefix + tokenName), clientv3.OpDelete(l.prefix + shelfName)}, nil); failed != nil {
		err = failed
	} else if !r.Succeeded {
		err = l.InUse("somebody came meanwhile")
	}
	return cmp.Or(held.Release(ctx), err)
}

// Search implements finder.Place. There are no directories. So all keys are listed, in pages, and those
// that only locks have tell where locks are.
func (l *lock) Search(context.Context) (finder.Search, error) {
	flat := func(ctx context.Context, tell func(dir string) error) error {
		options := []clientv3.OpOption{clientv3.WithKeysOnly(), clientv3.WithLimit(1000), clientv3.WithRange(clientv3.GetPrefixRangeEnd(l.prefix))}
		for from, more := l.prefix, true; more; {
			r, err := l.transact(ctx, "list keys", nil, []clientv3.Op{clientv3.OpGet(from+"\x00", options...)}, nil)
			if err != nil {
				return err
			}
			page := r.Responses[0].GetResponseRange()
			for _, kv := range page.Kvs {
				from = string(kv.Key)
				dir, name := path.Split(strings.TrimPrefix(from, l.prefix))
				if _, _, ok := named(name); ok || name == tokenName {
					if err := tell(dir); err != nil {
						return err
					}
				}
			}
			more = page.More
		}
		return nil
	}
	look := func(ctx context.Context, f finder.Found) (backend.Report, error) {
		return (&lock{l.Env, l.cluster, l.prefix + strings.TrimPrefix(f.Path+"/", "/")}).Read(ctx)
	}
	return finder.Search{Flat: flat, Kind: finder.Kind{Place: l.Name, Look: look}}, nil
}
