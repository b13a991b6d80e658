package link

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/backendtest"
	"locksmith/backends/process"
)

const (
	roleContender = "contender"
	chaosVariable = "LOCKSMITH_TEST_CHAOS" // the directory of the lock and its log
)

// TestChaos lets processes contend for one lock and kills some of them at
// random. Each that enters makes sure that its predecessor, if it did not say
// that it left, is dead.
func TestChaos(t *testing.T) {
	dir := t.TempDir()
	backendtest.Chaos(t, 6, 100, func() *exec.Cmd {
		return backendtest.Copy(t, roleContender, chaosVariable+"="+dir)
	})
	checkChaosLog(t, dir)
	ageIncomplete(t, dir)
	notStuck(t, dir)
}

// ageIncomplete makes claims old whose makers died before they had written them.
// Nobody can tell whose they are.
func ageIncomplete(t *testing.T, dir string) {
	old := time.Now().Add(-3 * time.Hour)
	for _, name := range listed(t, dir) {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		mustWork(t, err)
		if len(raw) == 0 {
			mustWork(t, os.Chtimes(filepath.Join(dir, name), old, old))
		}
	}
}

func checkChaosLog(t *testing.T, dir string) {
	raw, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	entered := strings.Count(string(raw), "enter")
	died := entered - strings.Count(string(raw), "leave")
	t.Logf("entered %d times, died inside %d times", entered, died)
	if entered == 0 {
		t.Error("nobody ever held the lock")
	}
}

func notStuck(t *testing.T, dir string) {
	path := filepath.Join(dir, "lock")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	h, err := backend.Acquire(ctx, attemptAt(t, path, backendtest.Request()))
	if err != nil {
		t.Fatalf("the lock is stuck: %v", err)
	}
	mustRelease(t, h)
	if err := os.Remove(filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
	mustBeEmpty(t, dir)
}

// contend is a contender's life: it enters and leaves a few times.
func contend() int {
	const rounds = 40
	dir := os.Getenv(chaosVariable)
	for range rounds {
		if err := enterOnce(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

func enterOnce(dir string) error {
	l, err := Open(backend.Address{Scheme: Scheme, Path: filepath.Join(dir, "lock")})
	if err != nil {
		return err
	}
	r := backendtest.Request()
	r.Strict = true // never by age, which is not safe
	a, err := l.Attempt(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	h, err := backend.Acquire(ctx, a)
	if err != nil {
		return err
	}
	if err := beAlone(filepath.Join(dir, "log"), r.Owner.Helper); err != nil {
		return err
	}
	return h.Release(ctx)
}

// beAlone enters, stays a moment, and leaves. Its lines are single appends, so
// they come in the order of events.
func beAlone(path string, self process.Process) error {
	log, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	if err := predecessorGone(path); err != nil {
		return err
	}
	entry := fmt.Sprintf("enter %d %d", self.PID, self.Start)
	if _, err := fmt.Fprintln(log, entry); err != nil {
		return err
	}
	time.Sleep(8 * time.Millisecond) // so that many die here
	if last, err := lastLine(path); err != nil || last != entry {
		return fmt.Errorf("not alone: after %q came %q, %v", entry, last, err)
	}
	_, err = fmt.Fprintf(log, "leave %d %d\n", self.PID, self.Start)
	return err
}

func predecessorGone(path string) error {
	last, err := lastLine(path)
	if err != nil {
		return err
	}
	var p process.Process
	if n, _ := fmt.Sscanf(last, "enter %d %d", &p.PID, &p.Start); n == 2 && !p.Gone() {
		return fmt.Errorf("%q has not left and is alive", last)
	}
	return nil
}

func lastLine(path string) (string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	return lines[len(lines)-1], nil
}
