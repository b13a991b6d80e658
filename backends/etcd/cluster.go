package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/servers"
	"locksmith/protocol"
)

// A cluster is where locks are, and how to get there.
type cluster struct {
	backend.Name
	address  backend.Address
	access   backend.Access
	member   string        // the one to ask; "": all that the address names
	patience time.Duration // for one request; 0: usualPatience
	*line
}

// A line is a connection to each member, which all who ask share. It ends when nobody has asked for a while.
type line struct {
	mu     sync.Mutex
	client *clientv3.Client // nil: not connected yet
}

const usualPatience = 10 * time.Second

func (c *cluster) members() []string {
	if c.member != "" {
		return []string{c.member}
	}
	return c.address.Hosts()
}

// connected returns the client of all members.
func (c *cluster) connected(ctx context.Context) (_ *clientv3.Client, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.client == nil {
		c.client, err = c.connect(ctx, c.members())
	}
	return c.client, err
}

// within is the lock for requests that serve a lease: one that a member does not answer leaves time for
// another.
func (l *lock) within(lease time.Duration) *lock {
	c := *l.cluster
	c.patience = min(usualPatience, max(owner.BeatsEvery(lease), time.Second))
	return &lock{l.Env, &c, l.prefix}
}

// apart is the same cluster over connections of its own.
func (c *cluster) apart() *cluster {
	return &cluster{Name: c.Name, address: c.address, access: c.access, line: new(line)}
}

// ask sends a request, and sends it to the next member if one does not answer: each may be executed more
// than once. It leaves errAbsent and rpctypes.ErrLeaseNotFound as they are.
func (c *cluster) ask(ctx context.Context, op string, send func(context.Context, *clientv3.Client) error) error {
	client, err := c.connected(ctx)
	if err != nil {
		return err
	}
	hosts := time.Duration(len(c.members()))
	for range hosts {
		brief, cancel := context.WithTimeout(ctx, cmp.Or(c.patience, usualPatience)/hosts)
		err = send(brief, client)
		cancel()
		if err == nil || errors.Is(err, errAbsent) || errors.Is(err, rpctypes.ErrLeaseNotFound) {
			return err
		} else if err = c.failed(ctx, op, err); !backend.Passes(err) {
			return err
		}
	}
	return err
}

// transact executes one of two lists of operations, at one revision.
func (c *cluster) transact(ctx context.Context, op string, conditions []clientv3.Cmp, yes, no []clientv3.Op) (r *clientv3.TxnResponse, err error) {
	err = c.ask(ctx, op, func(ctx context.Context, client *clientv3.Client) (err error) {
		r, err = client.Txn(ctx).If(conditions...).Then(yes...).Else(no...).Commit()
		return err
	})
	return r, err
}

// errAbsent says that a key is not there.
var errAbsent = errors.New("the key is not there")

// get reads a key, and returns the revision at which it did.
func (c *cluster) get(ctx context.Context, key string) (*mvccpb.KeyValue, int64, error) {
	r, err := c.transact(ctx, "read a key", nil, []clientv3.Op{clientv3.OpGet(key)}, nil)
	if err != nil {
		return nil, 0, err
	}
	if all := r.Responses[0].GetResponseRange().Kvs; len(all) > 0 {
		return all[0], r.Header.Revision, nil
	}
	return nil, 0, errAbsent
}

// grant gets a lease of so many whole seconds, or of more.
func (c *cluster) grant(ctx context.Context, lease time.Duration) (r *clientv3.LeaseGrantResponse, err error) {
	err = c.ask(ctx, "get a lease", func(ctx context.Context, client *clientv3.Client) (err error) {
		r, err = client.Grant(ctx, int64((lease+time.Second-1)/time.Second))
		return err
	})
	return r, err
}

// renew begins a lease anew, or returns rpctypes.ErrLeaseNotFound.
func (c *cluster) renew(ctx context.Context, id clientv3.LeaseID) error {
	return c.ask(ctx, "renew our lease", func(ctx context.Context, client *clientv3.Client) error {
		_, err := client.KeepAliveOnce(ctx, id)
		return err
	})
}

// revoke ends a lease, and so removes the keys under it. One that has ended is no error.
func (c *cluster) revoke(ctx context.Context, id clientv3.LeaseID) error {
	err := c.ask(ctx, "revoke a lease", func(ctx context.Context, client *clientv3.Client) error {
		_, err := client.Revoke(ctx, id)
		return err
	})
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return nil
	}
	return err
}

// strike removes somebody's key, and nothing else that may be under its lease. It names one acquisition. Its
// error is ErrGone if that is not there.
func (c *cluster) strike(ctx context.Context, e entry) error {
	sent := 0
	err := c.ask(ctx, "remove a key", func(ctx context.Context, client *clientv3.Client) error {
		r, err := client.Txn(ctx).If(there(e.key, e.created)).Then(clientv3.OpDelete(e.key)).Commit()
		if sent++; err == nil && !r.Succeeded && sent == 1 { // later it may be us who removed it
			err = errAbsent
		}
		return err
	})
	if errors.Is(err, errAbsent) {
		return backend.ErrGone
	}
	return err
}

// sinceBeat is how long ago a lease was renewed at least, by the cluster's clock.
func (c *cluster) sinceBeat(ctx context.Context, id clientv3.LeaseID) (ago time.Duration, known bool) {
	err := c.ask(ctx, "look at a lease", func(ctx context.Context, client *clientv3.Client) error {
		r, err := client.TimeToLive(ctx, id)
		if err == nil && r.TTL > 0 {
			ago, known = time.Duration(max(r.GrantedTTL-r.TTL-1, 0))*time.Second, true
		}
		return err
	})
	return ago, known && err == nil
}

// watch returns when a key has changed since a revision, or why nobody can tell.
func (c *cluster) watch(ctx context.Context, key string, revision int64) error {
	client, err := c.connected(ctx)
	if err != nil {
		return err
	}
	for r := range client.Watch(clientv3.WithRequireLeader(ctx), key, clientv3.WithRev(revision+1)) {
		if len(r.Events) > 0 {
			return nil
		} else if err := r.Err(); err != nil { // such as that the revision was compacted
			return c.failed(ctx, "watch a key", err)
		}
	}
	return c.failed(ctx, "watch a key", errors.New("the watch ended"))
}

// failed gives a failed request its code and advice. The code is unreachable if it may have been
// executed, or may be yet.
func (c *cluster) failed(ctx context.Context, op string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %s: %w", c.Name, op, ctx.Err())
	}
	said := strings.TrimSuffix(strings.TrimPrefix(rpctypes.ErrorDesc(err), `connection error: desc = "transport: `), `"`)
	if errors.Is(err, context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded {
		said = "no answer in time"
	}
	e := &backend.Error{Lock: string(c.Name), Op: op, Err: errors.New(protocol.CleanText(said, servers.MaxSaid)), Code: protocol.Unreachable, Hint: servers.TryAgain}
	switch status.Code(err) {
	case codes.Unimplemented, codes.InvalidArgument, codes.FailedPrecondition, codes.OutOfRange, codes.DataLoss:
		e.Code, e.Hint = protocol.CannotCreate, "see what is wrong with: locksmith doctor "+backend.ShellWord(string(c.Name))
	}
	for _, h := range hints {
		if strings.Contains(said, h.says) {
			e.Code, e.Lasts, e.Hint = h.code, h.lasts, h.hint
			break
		}
	}
	return e
}

func (c *cluster) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.client == nil {
		return nil
	}
	return c.client.Close()
}
