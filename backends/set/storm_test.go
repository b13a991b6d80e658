package set

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/member"
	"locksmith/test/backendtest/membertest"
)

// A table is a number of locks that several sets use at once.
type table struct {
	locks []member.Lock
	fakes []*membertest.Fake
	users []atomic.Int32 // how many use each lock
}

func newTable(n int) *table {
	t := &table{users: make([]atomic.Int32, n)}
	for i := range n {
		f := membertest.New(fmt.Sprint("lock", i))
		t.fakes, t.locks = append(t.fakes, f), append(t.locks, f.Lock())
	}
	return t
}

// use takes the locks with these numbers for a while, and returns how long it waited.
func (b *table) use(t testing.TB, p Policy, numbers []int, keys func(int) string, hold time.Duration) time.Duration {
	var locks []member.Lock
	for _, n := range numbers {
		l := b.locks[n]
		l.Key = func() string { return keys(n) }
		locks = append(locks, l)
	}
	a := wish(t, locks...)
	a.set.policy = p
	start := time.Now()
	h, err := backend.Acquire(t.Context(), a)
	if err != nil {
		t.Error(err)
		return 0
	}
	waited := time.Since(start)
	for _, n := range numbers {
		if b.users[n].Add(1) > 1 {
			t.Errorf("lock %d has two holders", n)
		}
	}
	time.Sleep(hold)
	for _, n := range numbers {
		b.users[n].Add(-1)
	}
	if err := h.Release(t.Context()); err != nil {
		t.Error(err)
	}
	return waited
}

func inOrder(n int) string { return fmt.Sprintf("%04d", n) }

// policies are the two pure ways to wait, and the mix.
var policies = []struct {
	name   string
	policy Policy
}{
	{"ordered", Policy{Hold: 1000 * time.Hour}},
	{"backoff", Policy{Refusals: 1 << 30}},
	{"mixed", usual},
}

// 10,000 random sets of 6 locks, wanted by 8 users, come to an end under each policy, and no lock
// ever has two holders.
func TestStorm(t *testing.T) {
	const users, rounds = 8, 400
	for _, p := range policies {
		t.Run(p.name, func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			synctest.Test(t, func(t *testing.T) {
				b := newTable(6)
				var all sync.WaitGroup
				for u := range users {
					r := rand.New(rand.NewPCG(seed, uint64(u)))
					all.Go(func() {
						for range rounds {
							numbers := r.Perm(6)[:1+r.IntN(6)]
							b.use(t, p.policy, numbers, inOrder, time.Duration(r.IntN(5))*time.Millisecond)
						}
					})
				}
				all.Wait()
				membertest.MustBeFree(t, b.fakes...)
			})
		})
	}
}

// Hosts that mount the same directories in different places disagree on the order of the locks.
// Sets that hold on then wait in a circle, which opens by itself.
func TestCircle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTable(2)
		start := time.Now()
		var all sync.WaitGroup
		for u := range 2 {
			keys := func(n int) string { return inOrder((n + u) % 2) }
			all.Go(func() {
				for range 500 {
					b.use(t, Policy{Hold: time.Second}, []int{0, 1}, keys, time.Millisecond)
				}
			})
		}
		all.Wait()
		t.Logf("1,000 sets in %v", time.Since(start))
		membertest.MustBeFree(t, b.fakes...)
	})
}

// A set of two locks gets its turn, although others take the locks one at a time, over and over.
func TestBusyLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTable(2)
		stop := make(chan struct{})
		var all sync.WaitGroup
		for u := range 6 {
			all.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						b.use(t, usual, []int{u % 2}, inOrder, 10*time.Millisecond)
						time.Sleep(rand.N(time.Millisecond)) // the fake is not fair at all
					}
				}
			})
		}
		var longest time.Duration
		for range 50 {
			longest = max(longest, b.use(t, usual, []int{0, 1}, inOrder, time.Millisecond))
			time.Sleep(time.Millisecond)
		}
		close(stop)
		all.Wait()
		t.Logf("waited %v at most", longest)
		if longest > time.Minute {
			t.Errorf("among users of single locks a set waited %v, want a minute at most: look at keeps and order (attempt.go)", longest)
		}
	})
}
