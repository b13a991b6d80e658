//go:build linux

package etcd

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/backends/shelf"
	"locksmith/protocol"
	"locksmith/test/backendtest"
	"locksmith/test/etcdserver"
	"locksmith/test/lab"
)

// take takes a lock that is free.
func take(t *testing.T, l *lock) *hold {
	t.Helper()
	a, err := l.Attempt(backendtest.Request())
	backendtest.MustWork(t, err)
	return backendtest.MustHold(t, a).(*hold)
}

// TestAlarmAfterCompaction: an alarm that broke begins anew after a heartbeat, and then lasts until the
// key is gone.
func TestAlarmAfterCompaction(t *testing.T) {
	c := etcdserver.Start(t, etcdserver.Options{})
	address := fresh(c)
	h := take(t, mustOpen(t, address))
	rings := func() chan struct{} {
		rang := make(chan struct{})
		go h.Alarm(t.Context(), func() { close(rang) })
		return rang
	}
	for range 3 {
		c.Put(t, "elsewhere", "")
	}
	r, err := c.Client().Get(t.Context(), "elsewhere")
	backendtest.MustWork(t, err)
	_, err = c.Client().Compact(t.Context(), r.Header.Revision)
	backendtest.MustWork(t, err)
	<-rings() // nobody can tell any more
	backendtest.MustStillHold(t, h)
	rang := rings()
	select {
	case <-rang:
		t.Error("after a heartbeat the alarm rings for nothing")
	case <-time.After(time.Second / 2):
	}
	removeEntries(t, c, h.prefix)
	<-rang
	backendtest.MustFail(t, h.Heartbeat(t.Context()), protocol.Gone, "")
}

// TestStrikeAlone: what is removed of somebody else is the key of the lock, whatever is under its lease.
func TestStrikeAlone(t *testing.T) {
	c := etcdserver.Start(t, etcdserver.Options{})
	l, id := mustOpen(t, fresh(c)), owner.NewID()
	lease, err := c.Client().Grant(t.Context(), 60)
	backendtest.MustWork(t, err)
	for _, key := range []string{l.prefix + exclusive + id, "service/web1"} {
		_, err := c.Client().Put(t.Context(), key, "theirs", clientv3.WithLease(lease.ID))
		backendtest.MustWork(t, err)
	}
	backendtest.MustWork(t, backend.Break(t.Context(), l, l.Name, backend.Holder{ID: id}))
	if left := entries(t, c, l.prefix); len(left) > 0 {
		t.Errorf("the lock is not broken: %q", left)
	}
	if got := c.Keys(t, "service/"); len(got) != 1 {
		t.Errorf("of another program's keys under the same lease there are %q", got)
	}
	backendtest.MustFail(t, backend.Break(t.Context(), l, l.Name, backend.Holder{ID: id}), protocol.Gone, "")
}

// TestByHand: a key that somebody made by hand, without a lease, is told as what nothing ends, whatever
// is in it.
func TestByHand(t *testing.T) {
	c := etcdserver.Start(t, etcdserver.Options{})
	elsewhere := backendtest.Request().Owner
	elsewhere.ID, elsewhere.Acquired = owner.NewID(), time.Now()
	elsewhere.Place.Host, elsewhere.Place.Boot = "elsewhere", "elsewhere"
	record, err := elsewhere.Format()
	backendtest.MustWork(t, err)
	for what, value := range map[string]string{"a record": record, "none": ""} {
		t.Run(what, func(t *testing.T) {
			address := fresh(c)
			l := mustOpen(t, address)
			c.Put(t, l.prefix+exclusive+elsewhere.ID, value)
			err := try(t, address, backend.Access{})
			if held, ok := errors.AsType[*backend.HeldError](err); !ok || !held.Holder.Blocked || !strings.Contains(err.Error(), "break --force --id "+elsewhere.ID) {
				t.Errorf("a try says %v", err)
			}
			if r, err := l.Read(t.Context()); err != nil || len(r.Holders) != 1 || !r.Holders[0].Blocked {
				t.Errorf("status says %+v, %v", r, err)
			}
		})
	}
	t.Run("over the key of a holder", func(t *testing.T) {
		h := take(t, mustOpen(t, fresh(c)))
		c.Put(t, h.mine.key, "by hand")
		backendtest.MustStillHold(t, h)
		backendtest.MustRelease(t, h)
		if left := entries(t, c, h.prefix); len(left) > 0 {
			t.Errorf("its release leaves %q", left)
		}
	})
}

// another is a hold that is not of this package's own type.
type another struct{ backend.Hold }

// TestShelf: a holder that loses a race writes nothing, and does not hear that it has lost the lock. Any
// hold with its id will do.
func TestShelf(t *testing.T) {
	c := etcdserver.Start(t, etcdserver.Options{})
	l := mustOpen(t, fresh(c))
	h := take(t, l)
	races := 0
	write := func(held backend.Hold, races func()) error {
		return l.OnShelf(t.Context(), held, func(s shelf.Shelf) error {
			races()
			return s.Write(t.Context(), "test", &shelf.Slip{Name: "broken.test", Text: "ours\n"})
		})
	}
	lose := func() {
		races++
		c.Put(t, l.prefix+shelfName, strings.Repeat(" ", races)+"{}")
	}
	if err := write(h, lose); errors.Is(err, backend.ErrGone) || !backend.Passes(err) || races != backend.Races {
		t.Errorf("after %d lost races: %v", races, err)
	}
	for _, held := range []backend.Hold{nil, h, another{h}} {
		backendtest.MustWork(t, write(held, func() {}))
		c.Remove(t, l.prefix+shelfName)
	}
	backendtest.MustRelease(t, h)
	for _, held := range []backend.Hold{h, another{h}} {
		backendtest.MustFail(t, write(held, func() {}), protocol.Gone, "")
		backendtest.MustFail(t, l.Remove(t.Context(), held), protocol.Gone, "")
	}
	if keys := c.Keys(t, l.prefix); len(keys) != 1 {
		t.Errorf("who lost the lock changed what there is: %q", keys)
	}
	h = take(t, l)
	backendtest.MustWork(t, l.Remove(t.Context(), another{h}))
	if keys := c.Keys(t, l.prefix); len(keys) > 0 {
		t.Errorf("after all was removed there are %q", keys)
	}
}

// TestConnections: attempts for one lock share a connection.
func TestConnections(t *testing.T) {
	c := etcdserver.Start(t, etcdserver.Options{})
	l := mustOpen(t, fresh(c))
	for range 20 {
		backendtest.MustRelease(t, take(t, l))
	}
	if n := connections(t, c); n > 3 { // ours, and those of the test
		t.Errorf("20 attempts leave %d connections", n)
	}
}

// connections is how many there are to the first member.
func connections(t *testing.T, c *etcdserver.Cluster) int {
	t.Helper()
	_, port, err := net.SplitHostPort(c.Host(0))
	backendtest.MustWork(t, err)
	n, err := strconv.Atoi(port)
	backendtest.MustWork(t, err)
	table, err := os.ReadFile("/proc/self/net/tcp")
	backendtest.MustWork(t, err)
	return strings.Count(string(table), fmt.Sprintf(":%04X 01 ", n)) // to that port, established
}

// TestDoctorUnanswered: that an answer is lost is no flaw of the cluster, whichever it is, even if the request
// is then sent again to another member.
func TestDoctorUnanswered(t *testing.T) {
	c := etcdserver.Start(t, etcdserver.Options{})
	examine := func(at int, after bool) int {
		g := c.NewGate(t, at, after, func() {})
		l := mustOpen(t, "etcd://"+g.Addr+","+c.Host(0)+"/doctor")
		err := l.Examine(t.Context(), backend.Examination{Rounds: 1}, func(check backend.Check) {
			if check.Finding == backend.Unfit {
				t.Errorf("request %d, and was executed: %v: doctor finds %+v", at, after, check)
			}
		})
		if err != nil && backend.CodeOf(err) != protocol.Unreachable {
			t.Errorf("request %d, and was executed: %v: %v", at, after, err)
		}
		return g.Requests()
	}
	requests := examine(0, false)
	for at := 1; at <= requests; at += 1 + at/12 {
		examine(at, false)
		examine(at, true)
	}
	t.Logf("%d requests go this way", requests)
	if left := c.Keys(t, "doctor/"); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// TestStrangerBetween: a waiter sees to a holder on its host, if who waits before it cannot. A dead
// waiter before it does not keep it from that.
func TestStrangerBetween(t *testing.T) {
	c := etcdserver.Start(t, etcdserver.Options{})
	l := mustOpen(t, fresh(c))
	dies := exec.Command("sleep", "60")
	backendtest.MustWork(t, dies.Start())
	r := backendtest.Request()
	var err error
	r.Owner.Helper = backendtest.DeadProcess(t)
	r.Owner.Parent, err = process.Find(dies.Process.Pid)
	backendtest.MustWork(t, err)
	a, err := l.Attempt(r)
	backendtest.MustWork(t, err)
	backendtest.MustHold(t, a)
	stranger := backendtest.Request()
	stranger.Owner.Place.Host, stranger.Owner.Place.Boot = "elsewhere", "elsewhere"
	between, err := l.Attempt(stranger)
	backendtest.MustWork(t, err)
	between.(*attempt).Env.Judge = func(owner.Record) owner.Verdict { return owner.Unknown }
	backendtest.MustBeHeld(t, between)
	waiter, err := mustOpen(t, c.Address(strings.TrimSuffix(l.prefix, "/"))).Attempt(backendtest.Request())
	backendtest.MustWork(t, err)
	backendtest.MustBeHeld(t, waiter)
	_ = dies.Process.Kill()
	_ = dies.Wait()
	backendtest.MustWork(t, waiter.Wait(t.Context()))
	backendtest.MustBeHeld(t, waiter)
	if left := entries(t, c, l.prefix); len(left) != 2 {
		t.Errorf("the dead holder was not removed at once: %q", left)
	}
	backendtest.MustWithdraw(t, waiter)
	backendtest.MustWithdraw(t, between)
}

// TestBrokenWaiter: who is broken while it waits goes to the end of the line, and does not wait on
// without a place there.
func TestBrokenWaiter(t *testing.T) {
	c := etcdserver.Start(t, etcdserver.Options{})
	l := mustOpen(t, fresh(c))
	a, err := l.Attempt(backendtest.Request())
	backendtest.MustWork(t, err)
	h := backendtest.MustHold(t, a)
	waiter, err := l.Attempt(backendtest.Request())
	backendtest.MustWork(t, err)
	backendtest.MustBeHeld(t, waiter)
	lost := waiter.(*attempt).mine.id
	done := make(chan error, 1)
	go func() { done <- waiter.Wait(t.Context()) }()
	backendtest.MustWork(t, backend.Break(t.Context(), l, l.Name, backend.Holder{ID: lost}))
	select {
	case err := <-done:
		backendtest.MustWork(t, err)
	case <-time.After(lab.Patience):
		t.Fatal("it waits on, though its key is gone")
	}
	backendtest.MustBeHeld(t, waiter)
	if now := waiter.(*attempt).mine.id; now == lost || len(entries(t, c, l.prefix)) != 2 {
		t.Errorf("it waits as %s, and was %s", now, lost)
	}
	backendtest.MustWithdraw(t, waiter)
	backendtest.MustRelease(t, h)
}

// TestGraceOfTheDead: who waits for longer before it breaks a dead holder asks for nothing meanwhile.
func TestGraceOfTheDead(t *testing.T) {
	c := etcdserver.Start(t, etcdserver.Options{})
	l := mustOpen(t, fresh(c))
	r := backendtest.Request()
	r.Owner.Helper = backendtest.DeadProcess(t)
	a, err := l.Attempt(r)
	backendtest.MustWork(t, err)
	backendtest.MustHold(t, a)
	r = backendtest.Request()
	r.Grace = 2 * time.Second
	waiter, err := l.Attempt(r)
	backendtest.MustWork(t, err)
	began, tries := time.Now(), 0
	for {
		h, err := waiter.Try(t.Context())
		if tries++; err == nil {
			backendtest.MustRelease(t, h)
			break
		}
		if tries > 100 {
			t.Fatal(err)
		}
		backendtest.MustWork(t, waiter.Wait(t.Context()))
	}
	if passed := time.Since(began); passed < r.Grace || tries > 5 {
		t.Errorf("it had the lock after %v and %d tries, want %v and few", passed, tries, r.Grace)
	}
}
