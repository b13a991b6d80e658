package client_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"locksmith/client"
	"locksmith/test/lab"
)

// TestService's service: each request takes one of serviceKeys locks, serviceFlight at a time.
const serviceKeys, serviceFlight = 50, 64

// A service counts who works under each lock.
type service struct {
	t      *testing.T
	dir    string
	do     func(ctx context.Context, address string, work func(context.Context) error, options ...client.Option) error
	inside [serviceKeys]atomic.Int32 // who works and has not been told of a loss
	done   atomic.Int32
	lost   atomic.Int32
}

// ServeHTTP works under the lock of a key.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key, err := strconv.Atoi(r.URL.Query().Get("key"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	err = s.do(r.Context(), "nfs:"+filepath.Join(s.dir, strconv.Itoa(key)), func(ctx context.Context) error {
		if n := s.inside[key].Add(1); n > 1 {
			s.t.Errorf("key %d: %d work under one lock at a time", key, n)
		}
		defer s.inside[key].Add(-1)
		select {
		case <-time.After(time.Duration(rand.Int64N(int64(3 * time.Millisecond)))):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}, client.Lease(10*time.Second), client.Fenced())
	switch {
	case err == nil:
		s.done.Add(1)
	case errors.Is(err, context.Canceled):
		s.t.Errorf("key %d: a loss is told as a cancellation: %v", key, err)
	case errors.Is(err, client.ErrLost):
		s.lost.Add(1)
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	default:
		s.refused(w, err)
	}
}

// refused answers a request whose helper was killed before it had the lock. No other reason is
// right.
func (s *service) refused(w http.ResponseWriter, err error) {
	if _, ok := errors.AsType[*client.ProtocolError](err); !ok {
		s.t.Errorf("a request gets no lock for a reason other than a killed helper: %v", err)
	}
	s.lost.Add(1)
	http.Error(w, err.Error(), http.StatusServiceUnavailable)
}

// TestService: a server takes a lock for each request, while its helpers are killed and stopped
// at random. No two work under one key, no loss goes untold, every request has an answer, and no
// helper is left.
func TestService(t *testing.T) {
	requests := 300
	if testing.Short() {
		requests = 100
	}
	for name, size := range map[string]int{"without pool": 0, "pool": 16} {
		t.Run(name, func(t *testing.T) {
			s := &service{t: t, dir: t.TempDir(), do: client.Do}
			pool := &client.Pool{Size: size}
			if size > 0 {
				s.do = pool.Do
			}
			server := httptest.NewServer(s)
			defer server.Close()
			stop := make(chan struct{})
			var mishaps sync.WaitGroup
			mishaps.Go(func() { harm(t, stop) })
			begun := time.Now()
			s.load(server.URL, requests)
			took := time.Since(begun)
			close(stop)
			mishaps.Wait()
			pool.Close()
			lab.Eventually(t, "no helper is left", func() bool { return len(children(t)) == 0 }, func() string { return fmt.Sprint(children(t)) })
			if done, lost := s.done.Load(), s.lost.Load(); int(done+lost) != requests || int(done) < requests/2 {
				t.Errorf("of %d requests %d were served and %d told of a loss: too few, or some without an answer", requests, done, lost)
			} else {
				t.Logf("%d requests in %v: %d served, %d told of a loss", requests, took.Round(time.Millisecond), done, lost)
			}
		})
	}
}

// load makes requests, as many at a time as a busy service has.
func (s *service) load(url string, requests int) {
	var all sync.WaitGroup
	var next atomic.Int32
	web := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: serviceFlight}}
	defer web.CloseIdleConnections()
	for range serviceFlight {
		all.Go(func() {
			for int(next.Add(1)) <= requests {
				answer, err := web.Get(fmt.Sprintf("%s/?key=%d", url, rand.IntN(serviceKeys)))
				if err != nil {
					s.t.Error(err)
					continue
				}
				_ = answer.Body.Close()
			}
		})
	}
	all.Wait()
}

// harm kills helpers at random, and stops some for a moment, until stop is closed.
func harm(t *testing.T, stop <-chan struct{}) {
	var stopped []int
	goOn := func() {
		for _, pid := range stopped {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
		stopped = nil
	}
	defer goOn()
	for {
		select {
		case <-stop:
			return
		case <-time.After(60 * time.Millisecond):
		}
		goOn()
		all := children(t)
		if len(all) == 0 {
			continue
		}
		pid := all[rand.IntN(len(all))]
		if rand.IntN(2) == 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		} else if syscall.Kill(pid, syscall.SIGSTOP) == nil {
			stopped = append(stopped, pid)
		}
	}
}

// children are the processes that this one has started, and that have not ended.
func children(t *testing.T) (all []int) {
	t.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(lists) == 0 {
		t.Fatal("the kernel does not tell of children", err)
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, word := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				all = append(all, pid)
			}
		}
	}
	return all
}
