//go:build unix

package mkdirlock

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/test/lab"
)

// scripts lock with mkdir alone, as people's scripts do. Each enters as often as it is told, and
// counts in a file.
var scripts = map[string][]string{
	"sh": {"sh", "-c", `L=$1 F=$2 n=$3
while [ "$n" -gt 0 ]; do
	until mkdir "$L" 2>/dev/null; do sleep 0.01; done
	c=$(cat "$F"); echo $((c+1)) >"$F"
	rmdir "$L" || exit 1
	n=$((n-1))
done`, "script"},
	"perl": {"perl", "-e", `my ($L, $F, $n) = @ARGV;
sub count { open(my $f, '<', $F) or die $!; my $c = <$f>; close $f; open($f, '>', $F) or die $!; print $f $c+1, "\n"; close $f or die $! }
for (1..$n) {
	while (!mkdir "$L") { select(undef,undef,undef,0.05) }
	count();
	rmdir "$L" or die $!;
}`},
}

func scriptIn(t *testing.T, language, path, counter string, rounds int) *exec.Cmd {
	t.Helper()
	argv := scripts[language]
	if _, err := exec.LookPath(argv[0]); err != nil {
		lab.Lacking(t, language+" is missing")
	}
	cmd := exec.CommandContext(t.Context(), argv[0], append(argv[1:len(argv):len(argv)], path, counter, strconv.Itoa(rounds))...)
	cmd.Stderr = os.Stderr
	return cmd
}

func eachScript(t *testing.T, test func(t *testing.T, language, path string)) {
	t.Helper()
	for language := range scripts {
		t.Run(language, func(t *testing.T) { test(t, language, filepath.Join(t.TempDir(), "lock")) })
	}
}

// TestScriptHolds: a waiter for a script's lock is told what is there, never breaks it, and gets
// the lock when the script leaves it.
func TestScriptHolds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	mustWork(t, os.Mkdir(path, 0o755))
	r := requestFor("exclusive")
	r.Owner.Lease = owner.MinLease
	a, err := openLock(t, path, plain).Attempt(r)
	mustWork(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 2*owner.MinLease)
	defer cancel()
	if h, err := backend.Acquire(ctx, a); err == nil {
		t.Fatalf("a waiter broke a script's lock: %v", h.ID())
	}
	held := mustBeHeld(t, a)
	if !strings.Contains(held.Note, "an empty directory") || held.Verdict != owner.Unknown {
		t.Errorf("a script's lock is held by %+v, want unknown, with a note of an empty directory", held)
	}
	if r := inspect(t, path, plain); len(r.Holders) != 1 || !strings.Contains(r.Holders[0].Note, "an empty directory") {
		t.Errorf("Read of a script's lock sees %+v", r)
	}
	mustWork(t, os.Remove(path))
	mustRelease(t, acquired(t, a))
	nothingLeft(t, path)
}

// TestScriptWaits: a script has to wait while we hold the lock, and gets it from us.
func TestScriptWaits(t *testing.T) {
	eachScript(t, func(t *testing.T, language, path string) {
		counter := path + "-counter"
		mustWork(t, os.WriteFile(counter, []byte("0\n"), 0o644))
		h := acquired(t, attemptAt(t, path, plain, "exclusive"))
		if err := os.Mkdir(path, 0o755); !os.IsExist(err) {
			t.Errorf("a script's mkdir of our lock: %v, want that it exists", err)
		}
		if err := os.Remove(path); err == nil {
			t.Error("rmdir removed our lock")
		}
		cmd := scriptIn(t, language, path, counter, 1)
		mustWork(t, cmd.Start())
		time.Sleep(200 * time.Millisecond)
		mustCount(t, counter, 0)
		mustStillHold(t, h)
		mustRelease(t, h)
		mustWork(t, cmd.Wait())
		mustCount(t, counter, 1)
		mustWork(t, os.Remove(counter))
		nothingLeft(t, path)
	})
}

func mustCount(t *testing.T, path string, want int) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || strings.TrimSpace(string(got)) != strconv.Itoa(want) {
		t.Errorf("scripts and we counted to %q, %v; want %d", got, err, want)
	}
}

// TestScriptsAndUs: scripts and we count in one file, and no count is lost.
func TestScriptsAndUs(t *testing.T) {
	eachScript(t, func(t *testing.T, language, path string) {
		const each, rounds = 4, 15
		counter := path + "-counter"
		mustWork(t, os.WriteFile(counter, []byte("0\n"), 0o644))
		failed := make(chan error)
		for range each {
			cmd := scriptIn(t, language, path, counter, rounds)
			mustWork(t, cmd.Start())
			go func() { failed <- cmd.Wait() }()
			go func() { failed <- countAt(t, path, counter, rounds) }()
		}
		for range 2 * each {
			if err := <-failed; err != nil {
				t.Error(err)
			}
		}
		mustCount(t, counter, 2*each*rounds)
		mustWork(t, os.Remove(counter))
		nothingLeft(t, path)
	})
}

// countAt is what a script does.
func countAt(t *testing.T, path, counter string, rounds int) error {
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	for range rounds {
		h, err := acquireAt(ctx, path, plain, "exclusive", true)
		if err != nil {
			return err
		}
		raw, err := os.ReadFile(counter)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(raw)))
		if err != nil {
			return err
		}
		if err := os.WriteFile(counter, fmt.Appendln(nil, n+1), 0o644); err != nil {
			return err
		}
		if err := h.Release(ctx); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}
