package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	lockclient "locksmith/client"
	"locksmith/test/lab"
)

// A passage is a way of a Go program to take one of many locks of this machine.
type passage struct {
	name string
	take func(ctx context.Context, path string) (release func() error, err error)
}

// TestPool measures a lock for each request, with a process each, with helpers that wait, and
// by flock(2) in the program itself, in turns, in one run.
func TestPool(t *testing.T) {
	lab.NotShort(t, "builds a program, and takes some seconds")
	t.Setenv("LOCKSMITH", lab.Program(t, "cmd/locksmith"))
	pool := &lockclient.Pool{Size: 8}
	defer pool.Close()
	by := func(acquire func(context.Context, string, ...lockclient.Option) (*lockclient.Lock, error)) func(context.Context, string) (func() error, error) {
		return func(ctx context.Context, path string) (func() error, error) {
			l, err := acquire(ctx, "local:"+path)
			if err != nil {
				return nil, err
			}
			return l.Release, nil
		}
	}
	ways := []passage{{"client.Acquire", by(lockclient.Acquire)}, {"client.Pool", by(pool.Acquire)}, {"flock(2) in Go", byKernel}}
	turns := 3 * max(1, *rounds)
	single, many := map[string][]time.Duration{}, map[string]int{}
	for range turns {
		for _, w := range ways {
			single[w.name] = append(single[w.name], w.alone(t, 40)...)
			many[w.name] += w.together(t, 8, 50, time.Second)
		}
	}
	p50 := func(name string) time.Duration {
		slices.Sort(single[name])
		return single[name][len(single[name])/2]
	}
	for _, w := range ways {
		fmt.Printf("%-16s p50 of acquire and release %8v, 8 goroutines over 50 keys %6d a second\n", w.name, p50(w.name).Round(time.Microsecond), many[w.name]/turns)
	}
	fmt.Printf("client.Pool: %.2f of the time of client.Acquire (goal: 0.2 at most), %.1f times as many (goal: 4 at least)\n",
		float64(p50("client.Pool"))/float64(p50("client.Acquire")), float64(many["client.Pool"])/float64(max(1, many["client.Acquire"])))
}

// alone takes a free lock again and again.
func (w passage) alone(t *testing.T, times int) (all []time.Duration) {
	path := filepath.Join(t.TempDir(), "lock")
	for range times {
		begun := time.Now()
		release, err := w.take(t.Context(), path)
		if err == nil {
			err = release()
		}
		if err != nil {
			t.Fatalf("%s: %v", w.name, err)
		}
		all = append(all, time.Since(begun))
	}
	return all
}

// together counts the locks that goroutines get in loops over some keys. It fails if two have
// one.
func (w passage) together(t *testing.T, goroutines, keys int, d time.Duration) (total int) {
	dir := t.TempDir()
	inside := make([]atomic.Int32, keys)
	end := time.Now().Add(d)
	var all sync.WaitGroup
	var mu sync.Mutex
	for g := range goroutines {
		all.Go(func() {
			n := 0
			for ; time.Now().Before(end); n++ {
				key := (g*7 + n*13) % keys
				release, err := w.take(t.Context(), filepath.Join(dir, fmt.Sprint(key)))
				if err != nil {
					t.Errorf("%s: %v", w.name, err)
					break
				}
				if n := inside[key].Add(1); n > 1 {
					t.Errorf("%s: %d have key %d", w.name, n, key)
				}
				inside[key].Add(-1)
				if err := release(); err != nil {
					t.Errorf("%s: %v", w.name, err)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			total += n
		})
	}
	all.Wait()
	return total
}

func byKernel(_ context.Context, path string) (func() error, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file.Close, nil
}
