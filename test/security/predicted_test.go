//go:build linux

package security

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"locksmith/backends"
	"locksmith/backends/backend"
	"locksmith/backends/finder"
	"locksmith/test/backendtest"
	"locksmith/test/lab"
)

// roleVariable makes a copy of this program go through lives, at an address.
const roleVariable = "LOCKSMITH_TEST_LIVES"

// predictable returns a lock whose random names are known beforehand, as the luckiest attacker
// might guess them.
func predictable(t testing.TB, address string) backend.Backend {
	b, _, err := backends.Usual().Open(address, backend.Access{})
	if err != nil {
		t.Fatal(err)
	}
	lock, n := reflect.Indirect(reflect.ValueOf(b)), 0
	if id := lock.FieldByName("NewID"); id.IsValid() {
		id.Set(reflect.ValueOf(func() string { n++; return fmt.Sprintf("%032x", n) }))
	}
	if today := lock.FieldByName("Today"); today.IsValid() {
		today.Set(reflect.ValueOf(func() time.Time { return time.Unix(1e9, 0) }))
	}
	return b
}

// lives does everything that is done with a lock. It is taken alone and together; others try in
// vain and wait; the holder lives on and lets go; a lock whose holder died is broken, by waiters
// and by hand. Errors do not fail the test, since the attacker may cause them.
func lives(t testing.TB, address string) {
	ctx, cancel := context.WithTimeout(context.Background(), lab.Patience)
	defer cancel()
	b := predictable(t, address)
	for _, mode := range []string{"exclusive", "shared"} {
		h, _ := try(ctx, t, b, mode, false)
		_, second := try(ctx, t, b, mode, false)
		if second != nil {
			soon, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
			_ = second.Wait(soon)
			cancel()
			_, _ = second.Try(ctx)
			_ = second.Withdraw(ctx)
		}
		if h != nil {
			_ = h.Heartbeat(ctx)
			_ = h.Tend(ctx)
			_ = h.Release(ctx)
		}
		for range 2 {
			dead, _ := try(ctx, t, b, mode, true)
			if h, _ := try(ctx, t, b, mode, false); h != nil {
				_ = h.Release(ctx)
			}
			if dead != nil {
				_ = backendtest.BreakID(ctx, b, dead.ID())
			}
		}
	}
	_, _ = b.NewestToken(ctx)
	if s, err := finder.In(ctx, b); err == nil {
		if s.Reap != nil {
			_, _ = s.Reap(ctx, backend.Reaping{MaxAge: time.Hour, Remove: true})
		}
		s.Close()
	}
	_, _ = b.Read(ctx)
}

// try tries once, for an owner that lives or for one that died.
func try(ctx context.Context, t testing.TB, b backend.Backend, mode string, dead bool) (backend.Hold, backend.Attempt) {
	r := backendtest.Request()
	r.Owner.Mode = mode
	if dead {
		r.Owner.Helper.Start++ // another process has its pid
	}
	a, err := b.Attempt(r)
	if err != nil {
		return nil, nil
	}
	h, err := a.Try(ctx)
	if err != nil {
		if s := err.Error(); strings.ContainsFunc(s, unclean) {
			t.Errorf("an error has characters that a terminal obeys: %q", s)
		}
		return nil, a
	}
	return h, nil
}

// TestLives runs in the copy of this program that is watched.
func TestLives(t *testing.T) {
	address := os.Getenv(roleVariable)
	if address == "" {
		t.Skip("this is for the copy that is watched")
	}
	lives(t, address)
}

// predicted returns the names that a lock makes below its directory, as strace sees them.
func predicted(t *testing.T, k kind) []string {
	t.Helper()
	strace := lab.NeedProgram(t, "strace")
	dir := t.TempDir()
	log := filepath.Join(t.TempDir(), "log")
	self, err := os.Executable()
	mustWork(t, err)
	cmd := exec.Command(strace, "-f", "-y", "-s", "4096", "-o", log, "-e",
		"trace=openat,mkdir,mkdirat,symlink,symlinkat,link,linkat,rename,renameat,renameat2,mknod,mknodat", self, "-test.run=^TestLives$")
	cmd.Env = append(os.Environ(), roleVariable+"="+k.at(filepath.Join(dir, "lock")), "GORACE=atexit_sleep_ms=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		lab.Lacking(t, fmt.Sprintf("strace: %v: %s", err, out))
	}
	names := namesMade(t, log, dir)
	if !slices.Contains(names, "lock") || len(names) < 2 && k.scheme != "local" && k.scheme != "flock" {
		t.Fatalf("%v makes only %q", k, names)
	}
	return names
}

var (
	callLine = regexp.MustCompile(`^\d+ +(\w+)\((.*)$`)
	argument = regexp.MustCompile(`(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"([^"]*)"`)
)

func namesMade(t *testing.T, log, dir string) []string {
	t.Helper()
	f, err := os.Open(log)
	mustWork(t, err)
	defer f.Close()
	var names []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		call := callLine.FindStringSubmatch(lines.Text())
		if call == nil || call[1] == "openat" && !strings.Contains(call[2], "O_CREAT") {
			continue
		}
		for _, a := range argument.FindAllStringSubmatch(call[2], -1) {
			path := a[2]
			if !filepath.IsAbs(path) {
				path = filepath.Join(a[1], path)
			}
			name, below := strings.CutPrefix(filepath.Clean(path), dir+"/")
			if below && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// TestPredictedNames: an attacker has guessed each name that we make, or sees it at the right
// moment, and has put something of his own there.
func TestPredictedNames(t *testing.T) {
	lab.NotShort(t, "watches copies for seconds")
	for _, k := range attacked {
		t.Run(k.String(), func(t *testing.T) {
			t.Parallel()
			names := fewOfAKind(predicted(t, k))
			t.Logf("%d names: %q", len(names), names)
			for _, name := range names {
				for _, p := range k.plants() {
					if atPredicted(t, k, name, p); t.Failed() {
						t.Fatalf("that was a %s at %s", p.name, name)
					}
				}
			}
		})
	}
}

// fewOfAKind leaves out names that differ from three others in numbers only.
func fewOfAKind(names []string) []string {
	seen := map[string]int{}
	return slices.DeleteFunc(names, func(name string) bool {
		shape := numbers.ReplaceAllString(name, "0")
		seen[shape]++
		return seen[shape] > 3
	})
}

var numbers = regexp.MustCompile(`[0-9a-f]*[0-9][0-9a-f]*`)

func atPredicted(t *testing.T, k kind, name string, p plant) {
	t.Helper()
	v, dir := newVictim(t), t.TempDir()
	path := filepath.Join(dir, name)
	mustWork(t, os.MkdirAll(filepath.Dir(path), 0o777))
	if err := p.put(v, path); err != nil {
		return // not here, as TestPlantedLock says
	}
	v.mustStay(t, func() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			lives(t, k.at(filepath.Join(dir, "lock")))
		}()
		select {
		case <-done:
		case <-time.After(2 * lab.Patience):
			t.Errorf("%v with a %s at %s hangs", k, p.name, name)
		}
	})
}
