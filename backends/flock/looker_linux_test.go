package flock

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/flocks"
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

// A scene is what the eyes of lookers are shown. It counts the looks.
type scene struct {
	path    string
	keepers []flocks.Keeper // of the lock
	crowd   int
	takers  func() []int // where no taker is a keeper
	peeks   int
	scans   int
}

func (s *scene) eyes() eyes {
	return eyes{
		known: func(_ string, pids ...int) (seen flocks.Seen) {
			for _, k := range s.keepers {
				for _, pid := range pids {
					if k.PID == pid {
						seen.Keepers = append(seen.Keepers, k)
					}
				}
			}
			return seen
		},
		takers: func(string) (flocks.Seen, error) {
			s.peeks++
			seen := flocks.Seen{Crowd: s.crowd, Takers: s.takers()}
			for _, k := range s.keepers {
				if k.PID == k.Taker {
					seen.Keepers = append(seen.Keepers, k)
				}
			}
			return seen, nil
		},
		all: func(string) (flocks.Seen, error) {
			s.scans++
			return flocks.Seen{Crowd: s.crowd, Takers: s.takers(), Keepers: s.keepers}, nil
		},
		tasks: func() int { return 5 * s.crowd },
	}
}

// TestLooks counts the looks of some waiters of a crowd in ten minutes: who only waits reads
// /proc/locks and looks at all processes as seldom as it can.
func TestLooks(t *testing.T) {
	keeper := func(pid, taker int) []flocks.Keeper {
		return []flocks.Keeper{{Process: process.Process{PID: pid, Start: 1}, Taker: taker}}
	}
	const waiters = 20
	same := func() []int { return []int{4000001} }
	hands := func() func() []int {
		pid := 4000001
		return func() []int { pid++; return []int{pid} }
	}
	for name, c := range map[string]struct {
		crowd        int
		keepers      []flocks.Keeper
		takers       func() []int
		goesOn       bool // another writes its record before each look
		peeks, scans int  // of each waiter, at most
		says         string
	}{
		"named by its process":      {200, keeper(4000001, 4000001), same, false, 1, 0, "4000001"},
		"handed on, few wait":       {3, keeper(4000002, 4000001), same, false, 1, 1, "4000002"},
		"handed on, many wait":      {200, keeper(4000002, 4000001), same, false, 2, 1, "4000002"},
		"hidden, many wait":         {200, nil, same, false, 10, 9, ""},
		"from hand to hand":         {200, nil, hands(), false, 12, 0, ""},
		"from hand to hand, few":    {3, nil, hands(), false, 12, 12, ""},
		"from hand to hand of ours": {200, nil, same, true, 0, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scene{path: filepath.Join(t.TempDir(), "lock"), keepers: c.keepers, crowd: c.crowd, takers: c.takers}
				l := &Lock{path: s.path, eyes: s.eyes()}
				r := backendtest.Request()
				r.Clock = clock.Runtime{}
				for range waiters {
					k, end := newLooker(l, r), time.Now().Add(10*time.Minute)
					var h backend.Holder
					for time.Now().Before(end) {
						if c.goesOn {
							gone := r.Owner
							gone.Helper = process.Process{PID: 4000003, Start: 1}
							_, text, err := newRecord(gone)
							backendtest.MustWork(t, err, os.WriteFile(s.path, []byte(text), 0o644))
						}
						h = k.holder()
						time.Sleep(max(k.next(), time.Millisecond))
					}
					if says := h.String(); !strings.Contains(says, c.says) || c.says == "" && len(h.Kept) > 0 {
						t.Fatalf("a waiter says that it is held by %q, want %q in it", says, c.says)
					}
				}
				if most := waiters * c.peeks; s.peeks > most {
					t.Errorf("%d waiters read /proc/locks %d times, want %d at most", waiters, s.peeks, most)
				}
				if most := waiters * c.scans; s.scans > most {
					t.Errorf("%d waiters looked at all processes %d times, want %d at most", waiters, s.scans, most)
				}
			})
		})
	}
}

// TestLooksSpread: lookers of a crowd that found nobody do not look at all processes together.
func TestLooksSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scene{path: filepath.Join(t.TempDir(), "lock"), crowd: 1000, takers: func() []int { return []int{4000001} }}
		l, r := &Lock{path: s.path, eyes: s.eyes()}, backendtest.Request()
		r.Clock = clock.Runtime{}
		late, sum := 0, time.Duration(0)
		for range 20 {
			k := newLooker(l, r)
			k.holder()
			time.Sleep(k.next())
			if k.holder(); k.next() > 10*time.Second {
				late++
			}
			sum += k.next()
		}
		if late == 0 || sum < 100*time.Second || s.scans > 0 {
			t.Errorf("of 20 waiters in 1000 %d look 10 s later, %v on average; %d looked at once", late, sum/20, s.scans)
		}
	})
}

// TestLookBeforeTimeout: who gives up soon looks before that, however many processes there are.
func TestLookBeforeTimeout(t *testing.T) {
	s := &scene{crowd: 100000, takers: func() []int { return nil }}
	r := backendtest.Request()
	r.Timeout = 3 * time.Second
	k := newLooker(&Lock{path: filepath.Join(t.TempDir(), "lock"), eyes: s.eyes()}, r)
	k.holder()
	if next := k.next(); next > r.Timeout/2 {
		t.Errorf("a waiter of %v looks after %v", r.Timeout, next)
	}
}

// TestSecondLook: it looks beyond those that it knows before that is due, because nobody may look
// again.
func TestSecondLook(t *testing.T) {
	s := &scene{keepers: []flocks.Keeper{{Process: process.Process{PID: 4000001, Start: 1}, Taker: 4000001}}, takers: func() []int { return []int{4000001} }}
	k := newLooker(&Lock{path: filepath.Join(t.TempDir(), "lock"), eyes: s.eyes()}, backendtest.Request())
	first, second := k.holder(), k.holder()
	if first.PID != 0 || second.PID != 4000001 || s.peeks != 1 || s.scans > 0 {
		t.Errorf("first it sees %v, then %v, after %d looks at /proc/locks and %d at all processes", first, second, s.peeks, s.scans)
	}
}

// TestTurns: a report names nobody who let the lock go while it looked.
func TestTurns(t *testing.T) {
	l, pid := openLock(t, filepath.Join(t.TempDir(), "lock")), 4000000
	r, err := l.(*Lock).report(nil, owner.Here(), func(string) (flocks.Seen, error) {
		pid++
		return flocks.Seen{Takers: []int{pid}}, nil
	})
	if err != nil || len(r.Holders) != 1 || !strings.Contains(r.Holders[0].String(), "somebody unknown; others took turns") {
		t.Errorf("of a lock that goes from hand to hand it reports %+v, %v", r.Holders, err)
	}
}

// TestReads counts what waiters read while they live, beside a process with many descriptors. One
// reader of the file has a seat (lockfile.Seat), whose owner is nothing to them.
func TestReads(t *testing.T) {
	lab.NeedProgram(t, "flock")
	const waiters, descriptors = 4, 900
	for name, start := range map[string]func(t *testing.T, path string) *lab.Process{
		"flock(1)": func(t *testing.T, path string) *lab.Process {
			return script(t, path, `exec flock "$0" sh -c 'echo ready; read line'`)
		},
		"on record": func(t *testing.T, path string) *lab.Process {
			p := script(t, path, `exec flock "$0" -c 'echo ready; read line'`)
			r := backendtest.Request().Owner
			r.Helper, _ = process.Find(p.PID())
			_, text, err := newRecord(r)
			backendtest.MustWork(t, err, os.WriteFile(path, []byte(text), 0o644))
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lock")
			p := start(t, path)
			other := lab.Start(t, exec.Command("python3", "-c", `import os, sys
all = [os.open("/dev/null", os.O_RDONLY) for i in range(int(sys.argv[1]))]
print("ready", flush=True)
sys.stdin.readline()`, strconv.Itoa(descriptors)))
			other.Expect("ready")
			seat, err := lockfile.OpenShared(path)
			backendtest.MustWork(t, err)
			defer seat.Close()
			if seated, err := seat.Seat(1); !seated || err != nil {
				t.Fatalf("no seat: %v", err)
			}
			before := readCalls(t)
			done := make(chan string)
			for range waiters {
				go func() {
					a := attemptAt(t, path, backendtest.Request())
					held := ""
					for start := time.Now(); time.Since(start) < 3*firstLook || !strings.Contains(held, "pid ") && time.Since(start) < lab.Patience; {
						_, err := a.Try(t.Context())
						held = err.Error()
						ctx, stop := context.WithTimeout(t.Context(), 3*firstLook)
						_ = a.Wait(ctx)
						stop()
					}
					_ = a.Withdraw(context.Background())
					done <- held
				}()
			}
			for range waiters {
				if held := <-done; !strings.Contains(held, "pid ") {
					t.Errorf("a waiter says %q, want the holder's pid", held)
				}
			}
			if reads := readCalls(t) - before; reads > waiters*descriptors/2 {
				t.Errorf("%d waiters read %d times, where another process has %d descriptors", waiters, reads, descriptors)
			}
			for _, p := range []*lab.Process{p, other} {
				p.LetGo()
				p.Status()
			}
		})
	}
}

// readCalls is how many times this process has read.
func readCalls(t *testing.T) (n int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	backendtest.MustWork(t, err)
	_, text, _ = bytes.Cut(text, []byte("syscr: "))
	word, _, _ := strings.Cut(string(text), "\n")
	n, err = strconv.Atoi(word)
	backendtest.MustWork(t, err)
	return n
}
