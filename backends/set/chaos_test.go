//go:build unix

package set

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends"
	"locksmith/backends/backend"
	"locksmith/backends/backoff"
	"locksmith/backends/member"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

const (
	roleContender = "contender"
	chaosVariable = "LOCKSMITH_TEST_CHAOS" // the directory of the locks

	setsVariable = "LOCKSMITH_TEST_SETS" // how many sets a contender takes

	contenders = 8
)

var chaosSets = flag.Int("sets", 400, "how many sets TestChaos takes")

func TestMain(m *testing.M) {
	lab.Main(m, map[string]func() int{roleContender: contend})
}

// chaosLocks are six locks of all kinds that free themselves after a crash.
func chaosLocks(dir string) []string {
	at := func(kind, name string) string { return kind + ":" + filepath.Join(dir, name) }
	return []string{at("local", "a"), at("local", "b"), at("nfs", "c"), at("nfs", "d"), at("link", "e"), at("mkdir", "f") + "?style=dir"}
}

// TestChaos has 8 processes take random sets of 6 real locks, with kill -9 now and then; with
// -sets 10000 they take 10,000 sets. A process that holds a set also locks, for each of its
// locks, a witness in the kernel, which must be free.
func TestChaos(t *testing.T) {
	lab.NotShort(t, "it kills processes for many seconds")
	dir := t.TempDir()
	each := *chaosSets / contenders
	backendtest.Chaos(t, contenders, each/2, func() *exec.Cmd {
		return lab.Copy(roleContender, chaosVariable+"="+dir, fmt.Sprint(setsVariable, "=", each))
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, lock := range chaosLocks(dir) {
		if err := useSet(ctx, dir, []string{lock}); err != nil {
			t.Errorf("%s is stuck: %v", lock, err)
		}
	}
}

// contend is a contender's life.
func contend() int {
	dir := os.Getenv(chaosVariable)
	all := chaosLocks(dir)
	sets, err := strconv.Atoi(os.Getenv(setsVariable))
	if err != nil {
		panic(err)
	}
	// Long enough for a crowded machine. What matters is that it ends.
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute+time.Duration(sets)*time.Second)
	defer cancel()
	for range sets {
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if err := useSet(ctx, dir, all[:1+rand.IntN(len(all))]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

// useSet takes a set and makes sure that nobody else has any of its locks.
func useSet(ctx context.Context, dir string, addresses []string) error {
	var locks []member.Lock
	for _, address := range addresses {
		b, canonical, err := backends.Usual().Open(address, backend.Access{})
		if err != nil {
			return err
		}
		locks = append(locks, member.Lock{Address: canonical, Locker: b, Key: func() string { return backends.Usual().Key(canonical) },
			Ask: func(r backend.Request) backend.Request { return r }})
	}
	s, err := New(locks)
	if err != nil {
		return err
	}
	r := backendtest.Request()
	r.Strict = true // killed holders are proven dead
	hurry := backoff.Range{Min: time.Millisecond, Max: 5 * time.Millisecond}
	r.Polls = &backoff.Config{Poll: hurry, Slow: hurry}
	a, err := s.Attempt(r)
	if err != nil {
		return err
	}
	h, err := backend.Acquire(ctx, a)
	if err != nil {
		return err
	}
	if err := beAlone(dir, addresses); err != nil {
		return err
	}
	return h.Release(ctx)
}

// beAlone locks the witnesses for a moment.
func beAlone(dir string, addresses []string) error {
	for _, address := range addresses {
		f, err := os.OpenFile(filepath.Join(dir, "witness."+filepath.Base(address)), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			return fmt.Errorf("not alone in %s: %w", address, err)
		}
	}
	time.Sleep(rand.N(time.Millisecond))
	return nil
}
