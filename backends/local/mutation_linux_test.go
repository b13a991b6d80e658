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
	name           string
	file, old, new string
	test           string // the test that finds out: it fails, or hangs
}

var mutations = []mutation{
	{"remove a file that another has replaced", "hold.go", "	err := f.Named()\n	if err == nil {", "	var err error\n	if err == nil {", "TestSecondBreakerComesTooLate"},
	{"hold without the proof that the file was ours", "hold.go", "	return f.Named()\n}", "	return nil\n}", "TestBreakerRemovesWhatCreatorHasNotVerified"},
	{"let batons go before the release", "attempt.go", "	h.batons = a.leaveQueue()\n", "	a.leaveQueue().pass()\n", "TestReleaseWakesOne"},
	{"keep batons for ever", "hold.go", "	h.batons.pass()\n", "", "TestReleaseWakesOne"},
	{"keep batons of a lock that is lost", "hold.go", "	if errors.Is(err, lockfile.ErrReplaced) {\n		h.passBatons()\n	}\n", "", "TestLostLockPassesBatons"},
	{"no baton of one who lost", "baton.go", "ErrReplaced):\n			a.batons.add(f)", "ErrReplaced):\n			_ = f.Close()", "TestBatonOfOneWhoLost"},
	{"a baton of what may be the lock", "baton.go", "by its holder\n			_ = f.Close()", "by its holder\n			a.batons.add(f)", "TestTurnWithoutALook"},
	{"batons without end", "baton.go", "len(*b) > mostBatons", "len(*b) > 2*mostBatons", "TestMostBatons"},
	{"look at the file anew though its kernel lock is ours", "baton.go", "case err == nil:\n			return f, nil", "case err == nil:\n			a.batons.add(f)", "TestHolderOfManyDies"},
	{"keep a turn for which nobody waits", "queue_linux.go", "if f := q.arrive(err); f != nil {\n		_ = f.Close()\n	}", "q.arrive(err)", "TestLeavingTheQueue"},
	{"wait in another place each time", "queue_linux.go", "	case asleep:\n		return false\n", "", "TestOnePlaceInTheQueue"},
	{"sleep though a turn has come", "queue_linux.go", "		q.ring()\n		return false\n	}\n	q.place", "		q.ring()\n	}\n	q.place", "TestTwoTurns"},
	{"never look by oneself in the queue", "queue_linux.go", "min(timeout, a.pauses.NextOr(a.nap+a.system.Random(a.nap)))", "max(timeout, a.system.Random(a.nap))", "TestNapEnds"},
	{"nobody watches", "wait_linux.go", "	return err == nil && !seated\n", "	return err == nil || !seated\n", "TestStoppedWithBaton"},
	{"all watch", "wait_linux.go", "	return err == nil && !seated\n", "	return err == nil && seated && !seated\n", "TestReleaseWakesOne"},
}

func (m mutation) overlay() []overlay.Edit {
	return []overlay.Edit{{File: "backends/local/" + m.file, Old: m.old, New: m.new}}
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

// TestMutationsApply: the text that each mutation changes exists.
func TestMutationsApply(t *testing.T) {
	for _, m := range mutations {
		if _, err := overlay.Write(t.TempDir(), m.overlay()); err != nil {
			t.Errorf("mutation %q: %v", m.name, err)
		}
	}
}
