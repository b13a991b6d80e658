//go:build linux

package etcdlab

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"locksmith/backends/backend"
	"locksmith/backends/etcd"
	"locksmith/backends/owner"
	"locksmith/test/backendtest"
	"locksmith/test/etcdserver"
	"locksmith/test/lab"
	"locksmith/test/lab/lifecycle"
)

// sides of a request at which something happens.
var sides = map[string]bool{"before": false, "after": true}

func opened(t testing.TB, address string) backend.Backend {
	t.Helper()
	a, err := backend.ParseAddress(address, []backend.Scheme{{Name: "etcd", Port: "2379", Several: true}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := etcd.Open(a, backend.Access{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCuts: the connection is cut at each request of a lock's life in turn, before the request arrives, or
// after it was executed and before its answer arrives. The lock is then had or not had, never by two, and
// goes on being held. The next one gets it at once, and nothing is left behind.
func TestCuts(t *testing.T) {
	lab.NotShort(t, "starts etcd")
	c := etcdserver.Start(t, etcdserver.Options{})
	cut := func(t *testing.T, at int, after bool) int {
		prefix := fmt.Sprintf("cuts/%d-%t", at, after)
		g := c.NewGate(t, at, after, func() {})
		far, near := "etcd://"+g.Addr+"/"+prefix, opened(t, c.Address(prefix))
		acquired, broken := (&lifecycle.Life{Open: func() backend.Backend { return opened(t, far) }, Rival: near}).Whole()
		switch {
		case broken != nil:
			t.Error(broken)
		case acquired != nil && !lifecycle.IsClear(acquired):
			t.Errorf("not acquired: %v", acquired)
		}
		a, err := near.Attempt(backendtest.Request())
		backendtest.MustWork(t, err)
		backendtest.MustRelease(t, backendtest.MustHold(t, a))
		mustLeaveNothing(t, c, prefix)
		return g.Requests()
	}
	requests := cut(t, 0, false)
	t.Logf("a life is %d requests", requests)
	for at := 1; at <= requests; at++ {
		for side, after := range sides {
			t.Run(fmt.Sprint(side, " ", at), func(t *testing.T) {
				t.Parallel()
				cut(t, at, after)
			})
		}
	}
}

// mustLeaveNothing checks that no entry is left of a lock.
func mustLeaveNothing(t testing.TB, c *etcdserver.Cluster, prefix string) {
	t.Helper()
	left := slices.DeleteFunc(c.Keys(t, prefix+"/"), func(key string) bool { return strings.HasPrefix(key, "locksmith.") })
	if len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// TestKilledAtAnyRequest kills a helper, with what it guards, at each of its requests, before it arrives and
// after it was executed. Then two more ask for the lock at the same time: both get it, never both together,
// and nothing is left but what stays of every lock. Who had a lease that nobody can tell of
// is waited for, until it is over.
func TestKilledAtAnyRequest(t *testing.T) {
	lab.NotShort(t, "kills hundreds of helpers")
	c := etcdserver.Start(t, etcdserver.Options{})
	for name, v := range map[string]victim{
		"alone":  {},
		"shares": {flags: []string{"--shared"}},
		"waits":  {waits: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := v.live(t, c, "killed/"+name+"/whole", 0, false)
			if !whole.held {
				t.Fatal("who is not killed does not get the lock")
			}
			var most sync.WaitGroup
			slots, held, late := make(chan struct{}, 4), 0, time.Duration(0)
			var mu sync.Mutex
			for at := 1; at <= whole.requests; at++ {
				for side, after := range sides {
					most.Go(func() {
						slots <- struct{}{}
						defer func() { <-slots }()
						one := v.live(t, c, fmt.Sprintf("killed/%s/%s%d", name, side, at), at, after)
						mu.Lock()
						defer mu.Unlock()
						if late = max(late, one.freed); one.held {
							held++
						}
					})
				}
			}
			most.Wait()
			t.Logf("killed before and after each of %d requests, %d times while it had the lock; the next one had the lock after %v at most", whole.requests, held, late.Round(time.Millisecond))
			lab.Eventually(t, "all leases are over", func() bool { return len(leases(t, c)) == 0 }, func() string { return fmt.Sprint(leases(t, c)) })
		})
	}
}

func leases(t testing.TB, c *etcdserver.Cluster) []clientv3.LeaseStatus {
	t.Helper()
	r, err := c.Client().Leases(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return r.Leases
}

// A victim is killed at a request.
type victim struct {
	flags []string
	waits bool // for somebody who lets go then
}

// An end is what became of it.
type end struct {
	requests int
	held     bool          // it had begun to work
	freed    time.Duration // when the next one had the lock
}

// live goes through the life of a lock of its own.
func (v victim) live(t testing.TB, c *etcdserver.Cluster, prefix string, at int, after bool) (e end) {
	const lease = 2 * time.Second
	near := opened(t, c.Address(prefix))
	var incumbent backend.Hold
	if v.waits {
		incumbent = try(t, near, owner.MinLease*600)
	}
	var cmd *exec.Cmd
	started, killed := make(chan struct{}), make(chan struct{})
	g := c.NewGate(t, at, after, func() {
		<-started
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		close(killed)
	})
	args := slices.Concat([]string{"run", "--lease", lease.String(), "--timeout", "1m"}, v.flags, []string{"etcd://" + g.Addr + "/" + prefix, "--", "sh", "-c", "echo held; exec sleep 0.7"})
	cmd = locksmith(t.(*testing.T), args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out strings.Builder
	cmd.Stdout, cmd.WaitDelay = &out, time.Second
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return e
	}
	close(started)
	if v.waits {
		lab.Eventually(t, "it waits, or was killed", func() bool {
			select {
			case <-killed:
				return true
			default:
				return len(c.Keys(t, prefix+"/x.")) > 1
			}
		})
		if err := incumbent.Release(context.Background()); err != nil {
			t.Error(err)
		}
	}
	err := cmd.Wait()
	if at == 0 && err != nil {
		t.Errorf("who is not killed: %v", err)
	}
	died := time.Now()
	var inside sync.Mutex
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			h := try(t, opened(t, c.Address(prefix)), lease*30)
			e.freed = max(e.freed, time.Since(died))
			if !inside.TryLock() {
				t.Errorf("%s: two have the lock", prefix)
			}
			time.Sleep(5 * time.Millisecond)
			inside.Unlock()
			if err := h.Release(context.Background()); err != nil {
				t.Errorf("%s: %v", prefix, err)
			}
		})
	}
	both.Wait()
	mustLeaveNothing(t, c, prefix)
	e.requests, e.held = g.Requests(), strings.Contains(out.String(), "held")
	return e
}

// try waits until it has the lock.
func try(t testing.TB, b backend.Backend, lease time.Duration) backend.Hold {
	t.Helper()
	r := backendtest.Request()
	r.Owner.Lease = lease
	a, err := b.Attempt(r)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lab.Patience)
	defer cancel()
	h, err := backend.Acquire(ctx, a)
	if err != nil {
		t.Error(errors.Join(err, a.Withdraw(context.Background())))
		t.FailNow()
	}
	return h
}
