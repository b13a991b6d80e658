package bench

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
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

// The service of TestPool: so many requests at a time, each of which takes one of these locks.
const serviceFlight, serviceKeys = 64, 50

// passages are the ways that TestPool compares. The pool has a helper for each request of the
// service.
func passages(t *testing.T) []passage {
	pool := &lockclient.Pool{Size: serviceFlight}
	t.Cleanup(pool.Close)
	by := func(acquire func(context.Context, string, ...lockclient.Option) (*lockclient.Lock, error)) func(context.Context, string) (func() error, error) {
		return func(ctx context.Context, path string) (func() error, error) {
			l, err := acquire(ctx, "local:"+path)
			if err != nil {
				return nil, err
			}
			return l.Release, nil
		}
	}
	return []passage{{"client.Acquire", by(lockclient.Acquire)}, {"client.Pool", by(pool.Acquire)}, {"flock(2) in Go", byKernel}}
}

// TestPool measures a lock for each request of a Go program: with a process each, with helpers
// that wait, and by flock(2) in the program itself, in turns, in one run.
func TestPool(t *testing.T) {
	lab.NotShort(t, "builds a program, and takes some seconds")
	t.Setenv("LOCKSMITH", lab.Program(t, "cmd/locksmith"))
	turns, times, period := 1, 20, 200*time.Millisecond
	if *rounds > 0 {
		turns, times, period = 3**rounds, 40, time.Second
	}
	heading := machine()
	ways := passages(t)
	for _, w := range ways {
		w.serve(t, period/2) // until all helpers are there
	}
	one, several, requests := samples{}, samples{}, samples{}
	for range turns {
		for _, w := range ways {
			one[w.name] = append(one[w.name], w.alone(t, times)...)
			several[w.name] = append(several[w.name], w.together(t, 8, serviceKeys, period))
			requests[w.name] = append(requests[w.name], w.serve(t, period))
		}
	}
	text := poolTable(ways, []poolRow{
		{"ms to take a free `local:` lock and release it, p50", "%.3f", one, "≤ 0.2x"},
		{"locks a second of 8 goroutines in loops over 50 keys", "%.0f", several, "≥ 4x"},
		{"requests a second of an HTTP server, 64 in flight, each under one of 50 locks", "%.0f", requests, "-"},
	})
	fmt.Printf("\n%s:\n\n%s\n", heading, text)
	mustHaveRows(t, "README.md", text)
}

// A poolRow is a figure of all passages. Its goal is a bound of the ratio of the pool's value to
// that with a process for each lock.
type poolRow struct {
	figure, format string
	measured       samples
	goal           string
}

func poolTable(ways []passage, rows []poolRow) string {
	var b strings.Builder
	line := func(cells ...string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line("figure", ways[0].name, ways[1].name, ways[2].name, "Pool to Acquire", "goal", "met")
	line("---", "---", "---", "---", "---", "---", "---")
	for _, r := range rows {
		cells := []string{r.figure}
		for _, w := range ways {
			cells = append(cells, fmt.Sprintf(r.format, percentile(r.measured[w.name], 50)))
		}
		q := quotient(percentile(r.measured[ways[1].name], 50), percentile(r.measured[ways[0].name], 50))
		line(append(cells, ratio(q), r.goal, verdict(r.goal, 0, []base{{ways[1].name, q}}))...)
	}
	return b.String()
}

// mustHaveRows fails if a file lacks the head of a table, or the first column of a row.
func mustHaveRows(t *testing.T, file, table string) {
	t.Helper()
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(table, "\n")
	wanted := []string{head + "\n"}
	for line := range strings.Lines(rest) {
		figure, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		wanted = append(wanted, "\n| "+figure+" | ")
	}
	for _, text := range wanted {
		if !strings.Contains(string(page), text) {
			t.Errorf("%s does not show: %s", file, text)
		}
	}
}

// alone takes a free lock again and again, and returns the milliseconds that each took.
func (w passage) alone(t *testing.T, times int) (all []float64) {
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
		all = append(all, ms(time.Since(begun)))
	}
	return all
}

// keys are locks of a directory. It is an error if two hold one at the same time.
type keys struct {
	passage
	dir    string
	inside [serviceKeys]atomic.Int32
}

// pass takes the lock of a key and gives it back.
func (k *keys) pass(ctx context.Context, key int) error {
	release, err := k.take(ctx, filepath.Join(k.dir, fmt.Sprint(key)))
	if err != nil {
		return fmt.Errorf("%s: %w", k.name, err)
	}
	if n := k.inside[key].Add(1); n > 1 {
		err = fmt.Errorf("%s: %d have key %d", k.name, n, key)
	}
	k.inside[key].Add(-1)
	if released := release(); err == nil {
		err = released
	}
	return err
}

// together returns how many locks a second goroutines get in loops over some keys.
func (w passage) together(t *testing.T, goroutines, n int, d time.Duration) float64 {
	k := &keys{passage: w, dir: t.TempDir()}
	return often(t, goroutines, d, func(g, i int) error { return k.pass(t.Context(), (g*7+i*13)%n) })
}

// serve returns how many requests a second a server answers that takes a lock for each.
func (w passage) serve(t *testing.T, d time.Duration) float64 {
	k := &keys{passage: w, dir: t.TempDir()}
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		var key int
		_, err := fmt.Sscanf(r.URL.Path, "/%d", &key)
		if err == nil {
			err = k.pass(r.Context(), key)
		}
		if err != nil {
			http.Error(answer, err.Error(), http.StatusInternalServerError)
		}
	}))
	defer server.Close()
	web := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: serviceFlight}}
	defer web.CloseIdleConnections()
	return often(t, serviceFlight, d, func(g, i int) error {
		answer, err := web.Get(fmt.Sprintf("%s/%d", server.URL, (g*7+i*13)%serviceKeys))
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", w.name, answer.Status)
		}
		return nil
	})
}

// often is how many times a second goroutines do something.
func often(t *testing.T, goroutines int, d time.Duration, do func(goroutine, time int) error) float64 {
	var all sync.WaitGroup
	var total atomic.Int64
	begun := time.Now()
	for g := range goroutines {
		all.Go(func() {
			for i := 0; time.Since(begun) < d; i++ {
				if err := do(g, i); err != nil {
					t.Error(err)
					return
				}
				total.Add(1)
			}
		})
	}
	all.Wait()
	return float64(total.Load()) / time.Since(begun).Seconds()
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
