package local

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"locksmith/test/lab"
	"locksmith/test/overlay"
)

// A mutation is a way to write this package wrongly, which one of its tests must find out.
type mutation struct {
	name                string
	function, mark, new string // overlay.Edit
	test                string // the test that finds out: it fails, or hangs
}

var mutations = []mutation{
	{"remove a file that another has replaced", "Lock.remove", "named", "var err error", "TestSecondBreakerComesTooLate"},
	{"hold without the proof that the file was ours", "Lock.writeRecord", "named", "return nil", "TestBreakerRemovesWhatCreatorHasNotVerified"},
	{"let batons go before the release", "attempt.Try", "keep", "a.leaveQueue().pass()", "TestReleaseWakesOne"},
	{"keep batons for ever", "hold.passBatons", "pass", "", "TestReleaseWakesOne"},
	{"keep batons of a lock that is lost", "hold.Heartbeat", "lost", "", "TestLostLockPassesBatons"},
	{"no baton of one who lost", "attempt.openLock", "lost-one", "_ = f.Close()", "TestBatonOfOneWhoLost"},
	{"a baton of what may be the lock", "attempt.openLock", "holder", "a.batons.add(f)", "TestTurnWithoutALook"},
	{"batons without end", "batons.add", "most", "if *b = append(*b, f); len(*b) > 2*mostBatons {$body}", "TestMostBatons"},
	{"look at the file anew though its kernel lock is ours", "attempt.openLock", "kept", "a.batons.add(f)", "TestHolderOfManyDies"},
	{"keep a turn for which nobody waits", "queue.give", "nobody", "q.arrive(err)", "TestLeavingTheQueue"},
	{"wait in another place each time", "queue.begin", "asleep", "", "TestOnePlaceInTheQueue"},
	{"sleep though a turn has come", "queue.begin", "turn", "", "TestTwoTurns"},
	{"never look by oneself in the queue", "attempt.sleepInQueue", "nap", "return a.system.Rest(ctx, a.bell, max(timeout, a.system.Random(a.nap)))", "TestNapEnds"},
	{"nobody watches", "attempt.mustQueue", "watch", "return err == nil || !seated", "TestStoppedWithBaton"},
	{"all watch", "attempt.mustQueue", "watch", "return err == nil && seated && !seated", "TestReleaseWakesOne"},
}

func (m mutation) overlay() []overlay.Edit {
	return []overlay.Edit{{Package: "backends/local", In: m.function, Mark: m.mark, New: m.new}}
}

// TestMutations: each rule of the kernel's queue, and the two rules that keep two from holding
// the lock, are needed: without it a test fails.
func TestMutations(t *testing.T) {
	lab.NotShort(t, "it builds the tests with the mutations, and runs them once for each")
	dir := t.TempDir()
	var variants [][]overlay.Edit
	for _, m := range mutations {
		variants = append(variants, m.overlay())
	}
	list, apart, err := overlay.WriteVariants(dir, variants)
	if err != nil || len(apart) > 0 {
		t.Fatalf("not one program, but also %d: %v", apart, err)
	}
	tests := filepath.Join(dir, "tests")
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", list, "-o", tests, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said, errs := make([]string, len(mutations)), make([]error, len(mutations))
	var group sync.WaitGroup
	for i, m := range mutations {
		group.Go(func() { // all at the same time, because most are found out by a test that waits in vain
			run := exec.Command(tests, "-test.run", "^"+m.test+"$", "-test.timeout", "20s")
			run.Env = append(os.Environ(), overlay.Play(i))
			out, err := run.CombinedOutput()
			said[i], errs[i] = string(out), err
		})
	}
	group.Wait()
	for i, m := range mutations {
		failed := strings.Contains(said[i], "--- FAIL: "+m.test) || strings.Contains(said[i], "test timed out")
		if errs[i] == nil || !failed {
			t.Errorf("%s: %s does not find out: %v\n%.2000s", m.name, m.test, errs[i], said[i])
		}
	}
}

// TestMutationsApply: the function and the mark of each mutation exist.
func TestMutationsApply(t *testing.T) {
	for _, m := range mutations {
		if _, err := overlay.Write(t.TempDir(), m.overlay()); err != nil {
			t.Errorf("mutation %q: %v", m.name, err)
		}
	}
}
