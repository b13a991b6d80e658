package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"locksmith/backends/backend"
	"locksmith/backends/doctor"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// Examine implements backend.Backend. Its keys have names of their own, and are under a lease.
func (l *lock) Examine(ctx context.Context, e backend.Examination, tell backend.Tell) error {
	x := &examiner{lock: l, tell: tell, rounds: e.Rounds, own: l.prefix + "doctor." + owner.NewID()}
	defer func() {
		_ = x.revoke(context.WithoutCancel(ctx), x.lease)
	}()
	err := doctor.Run(ctx, x.members, x.rights, x.neighbours, x.race)
	if refused, ok := errors.AsType[*backend.Error](err); ok && refused.Code != protocol.Unreachable {
		tell.Refusal("rights", err)
		return nil
	}
	return err
}

type examiner struct {
	*lock
	tell   backend.Tell
	rounds int
	own    string // the beginning of the keys
	lease  clientv3.LeaseID
}

// members asks each member that the address names, and then all of them for a look that a majority
// must confirm.
func (x *examiner) members(ctx context.Context) error {
	for _, host := range x.address.Hosts() {
		name := "member " + host
		one := x.apart()
		one.member = host
		var said *clientv3.StatusResponse
		err := one.ask(ctx, "ask for its status", func(ctx context.Context, client *clientv3.Client) (err error) {
			said, err = client.Status(ctx, client.Endpoints()[0])
			return err
		})
		_ = one.close()
		switch {
		case err != nil:
			x.tell.Weak(name, backend.Reason(err), "see to this member: the others have the lock only while they are a majority")
		case revokesEarly(said.Version):
			x.tell.Unfit(name, "it is etcd "+said.Version+", which may end leases early: a leader that stood still revokes them when it goes on", "use 3.4.31, 3.5.13, 3.6 or later")
		case said.Leader == 0:
			x.tell.Weak(name, "it is etcd "+said.Version+", and knows no leader", "see to the other members")
		case len(said.Errors) > 0:
			x.tell.Weak(name, "it is etcd "+said.Version+", and says: "+protocol.CleanText(strings.Join(said.Errors, ", "), 100), "see: etcdctl alarm list")
		default:
			x.tell.Fit(name, "it is etcd "+said.Version)
		}
	}
	if _, err := x.look(ctx, clientv3.WithKeysOnly()); err != nil {
		return err
	}
	x.tell.Fit("majority", "it answers, and these credentials may read below the prefix")
	if x.address.User != "" && x.address.Options["tls"] != "yes" {
		x.tell.Weak("password", "it is sent in the clear", "have the cluster use TLS, and add ?tls=yes")
	}
	return nil
}

// revokesEarly reports whether a version may revoke leases that are not over (etcd#15247).
func revokesEarly(version string) bool {
	var major, minor, patch int
	_, _ = fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch)
	return major < 3 || major == 3 && (minor < 4 || minor == 4 && patch < 31 || minor == 5 && patch < 13)
}

// rights makes all the requests of a lock.
func (x *examiner) rights(ctx context.Context) error {
	const name = "lease and keys"
	shortest, err := x.grant(ctx, time.Second)
	if err != nil {
		return err
	}
	_ = x.revoke(ctx, shortest.ID)
	usual, err := x.grant(ctx, time.Minute)
	if err != nil {
		return err
	}
	x.lease = usual.ID
	made, err := x.make(ctx, x.lock, "key")
	if err != nil {
		return err
	}
	key := x.own + "key"
	if _, err := x.transact(ctx, "remove a key", nil, []clientv3.Op{clientv3.OpDelete(key)}, nil); err != nil {
		return err
	}
	brief, stop := context.WithTimeout(ctx, usualPatience)
	defer stop()
	watched := x.watch(brief, key, made)
	_, _, absent := x.get(ctx, key)
	if err := x.renew(ctx, x.lease); err != nil {
		return err
	}
	switch {
	case absent == nil:
		x.tell.Unfit(name, "a key that was removed is still there", "look at what is between here and the cluster")
		return doctor.ErrEnough
	case !errors.Is(absent, errAbsent):
		return absent
	case watched != nil && ctx.Err() == nil:
		x.tell.Unfit(name, "no watch told of a key's end: "+backend.Reason(watched), "look at what is between here and the cluster")
		return doctor.ErrEnough
	}
	x.tell.Fit(name, fmt.Sprintf("a key was made under a lease, watched, read and removed; the shortest lease here is %v", time.Duration(shortest.TTL)*time.Second))
	return nil
}

// make makes a key that must not be there, and returns its revision; 0: somebody else made it. It may be
// sent more than once, so what is in the key tells whose it is.
func (x *examiner) make(ctx context.Context, by *lock, name string) (int64, error) {
	key, id := x.own+name, owner.NewID()
	r, err := by.transact(ctx, "make a key", []clientv3.Cmp{there(key, 0)}, []clientv3.Op{clientv3.OpPut(key, id, clientv3.WithLease(x.lease)), clientv3.OpGet(key)}, []clientv3.Op{clientv3.OpGet(key)})
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		err = x.Failure(protocol.Unreachable, "make a key", err, "try again")
	}
	if err != nil {
		return 0, err
	}
	for _, kv := range r.Responses[len(r.Responses)-1].GetResponseRange().Kvs {
		if string(kv.Value) == id {
			return kv.CreateRevision, nil
		}
	}
	return 0, nil
}

// neighbours looks for keys as other tools make them for a lock of the same name.
func (x *examiner) neighbours(ctx context.Context) error {
	const name = "other tools"
	r, err := x.transact(ctx, "list keys", nil, []clientv3.Op{clientv3.OpGet(x.prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(1000))}, nil)
	if err != nil {
		return err
	}
	for _, kv := range r.Responses[0].GetResponseRange().Kvs {
		own := strings.TrimPrefix(string(kv.Key), x.prefix)
		if len(own) > 16 || strings.Trim(own, "0123456789abcdef") != "" {
			continue
		}
		if seen, _, err := x.get(ctx, string(kv.Key)); err == nil && seen.Lease != 0 && own == fmt.Sprintf("%x", seen.Lease) {
			x.tell.Weak(name, "key "+backend.Quoted(string(kv.Key))+" is as etcdctl lock makes them: it does not exclude us, nor we it", "give each tool a prefix of its own")
			return nil
		}
	}
	x.tell.Fit(name, "no key is as etcdctl lock makes them")
	return nil
}

// race has many make the same key at the same time, each over its own connection.
func (x *examiner) race(ctx context.Context) error {
	const name, racers, most = "many make the same", 32, 20
	var lanes []*lock
	for range racers {
		lane := &lock{x.Env, x.apart(), x.prefix}
		defer lane.close()
		if _, err := lane.connected(ctx); err != nil { // one after the other: to log in costs the cluster much
			return err
		}
		lanes = append(lanes, lane)
	}
	rounds := min(max(x.rounds, 1), most)
	for round := range rounds {
		winners := make([]int64, racers)
		for _, err := range doctor.Together(racers, func(i int) (err error) {
			winners[i], err = x.make(ctx, lanes[i], fmt.Sprint("race", round))
			return err
		}) {
			if err != nil {
				return err
			}
		}
		won := 0
		for _, revision := range winners {
			won += int(min(revision, 1))
		}
		if won != 1 {
			x.tell.Unfit(name, fmt.Sprintf("in round %d %d of %d were told that they made it", round+1, won, racers), "look at what is between here and the cluster: it is not etcd")
			return nil
		}
	}
	x.tell.Fit(name, fmt.Sprintf("in each of %d rounds one of %d made the key", rounds, racers))
	return nil
}
