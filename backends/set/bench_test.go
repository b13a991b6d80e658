//go:build unix

package set

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/local"
	"locksmith/backends/member"
	"locksmith/backends/nfs"
)

// A setting says who wants which locks.
type setting struct {
	name  string
	locks int
	sets  [][]int // the locks of each user
}

// settings are the dining philosophers, where each set meets its two neighbours' sets; a matrix
// of conflicts, where most sets do not meet; and one large set among single locks.
func settings() []setting {
	philosophers := setting{name: "philosophers", locks: 8}
	for p := range 8 {
		philosophers.sets = append(philosophers.sets, []int{p, (p + 1) % 8})
	}
	matrix := setting{name: "matrix", locks: 12}
	r := rand.New(rand.NewPCG(1, 2))
	for range 12 {
		matrix.sets = append(matrix.sets, r.Perm(12)[:3])
	}
	large := setting{name: "large", locks: 4, sets: [][]int{{0, 1, 2, 3}}}
	for u := range 8 {
		large.sets = append(large.sets, []int{u % 4})
	}
	return []setting{philosophers, matrix, large}
}

// places are the kinds of lock that are compared: one where the kernel wakes waiters, and one
// with a queue that waiters look at.
var places = map[string]func(backend.Address) (backend.Backend, error){"local": local.Open, "nfs": nfs.Open}

// BenchmarkPolicies compares the ways to wait. Each user holds its set for a while and then rests
// for less. The benchmark reports how many sets were held at a time on average, and in
// milliseconds the wait that 1 in 100 exceeded and the longest wait.
//
//	go test ./backends/set -run - -bench . -benchtime 1x
func BenchmarkPolicies(b *testing.B) {
	for _, s := range settings() {
		for kind := range places {
			for _, p := range policies {
				b.Run(s.name+"/"+kind+"/"+p.name, func(b *testing.B) { s.measure(b, kind, p.policy) })
			}
		}
	}
}

const (
	stint = 5 * time.Millisecond
	rest  = time.Millisecond
	shift = 3 * time.Second // how long all users go on
)

func (s setting) measure(b *testing.B, kind string, p Policy) {
	for b.Loop() {
		waits, took := s.play(b, newRealTable(b, kind, s.locks), p)
		slices.Sort(waits)
		b.ReportMetric(float64(len(waits))*stint.Seconds()/took.Seconds(), "held")
		b.ReportMetric(float64(waits[len(waits)*99/100].Milliseconds()), "p99-ms")
		b.ReportMetric(float64(waits[len(waits)-1].Milliseconds()), "max-ms")
	}
}

func newRealTable(b *testing.B, kind string, n int) *table {
	t := newTable(n)
	for i := range n {
		address := backend.Address{Scheme: kind, Path: filepath.Join(b.TempDir(), "lock")}
		lock, err := places[kind](address)
		if err != nil {
			b.Fatal(err)
		}
		t.locks[i] = member.Lock{Address: address.String(), Locker: lock, Ask: func(r backend.Request) backend.Request { return r }}
	}
	return t
}

func (s setting) play(t testing.TB, table *table, p Policy) (waits []time.Duration, took time.Duration) {
	var mu sync.Mutex
	var all sync.WaitGroup
	start := time.Now()
	for _, set := range s.sets {
		all.Go(func() {
			for time.Since(start) < shift {
				waited := table.use(t, p, set, inOrder, stint)
				mu.Lock()
				waits = append(waits, waited)
				mu.Unlock()
				time.Sleep(rand.N(rest))
			}
		})
	}
	all.Wait()
	return waits, time.Since(start)
}
