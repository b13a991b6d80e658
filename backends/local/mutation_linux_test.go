package local

import (
	"os/exec"
	"strings"
	"testing"

	"locksmith/test/lab"
	"locksmith/test/overlay"
)

// A mutation is a way to write this package wrongly, which a test of its must find out.
type mutation struct {
	name           string
	file, old, new string
	test           string // which finds out: it fails, or hangs
}

var mutations = []mutation{
	{"remove a file that another has replaced", "hold.go", "	err := f.Named()\n	switch {\n	case err != nil:\n	case l.kept", "	var err error\n	switch {\n	case err != nil:\n	case l.kept", "TestSecondBreakerComesTooLate"},
	{"hold without the proof that the file was ours", "hold.go", "	return f.Named()\n}", "	return nil\n}", "TestBreakerRemovesWhatCreatorHasNotVerified"},
	{"let batons go before the release", "attempt.go", "	h.batons = a.leaveQueue()\n", "	a.leaveQueue().pass()\n", "TestReleaseWakesOne"},
	{"keep batons for ever", "hold.go", "	h.batons.pass()\n", "", "TestReleaseWakesOne"},
	{"keep batons of a lock that is lost", "hold.go", "	if errors.Is(err, lockfile.ErrReplaced) {\n		h.passBatons()\n	}\n", "", "TestLostLockPassesBatons"},
	{"no baton of one who lost", "baton.go", "		a.batons.add(f)\n	}\n	return a.lock.open()", "		_ = f.Close()\n	}\n	return a.lock.open()", "TestBatonOfOneWhoLost"},
	{"batons without end", "baton.go", "len(*b) > mostBatons", "len(*b) > 2*mostBatons", "TestMostBatons"},
	{"look at the file anew though its kernel lock is ours", "baton.go", "f.Named() == nil {\n			return f, nil", "f.Named() == nil && false {\n			return f, nil", "TestHolderOfManyDies"},
	{"keep a turn for which nobody waits", "queue_linux.go", "	} else {\n		_ = f.Close()\n	}", "	}", "TestLeavingTheQueue"},
	{"wait in another place each time", "queue_linux.go", "	if q.sleeps {", "	if q.sleeps && false {", "TestOnePlaceInTheQueue"},
	{"never look by oneself in the queue", "queue_linux.go", "min(timeout, a.pauses.NextOr(a.nap+rand.N(a.nap)))", "max(timeout, rand.N(a.nap))", "TestNapEnds"},
	{"nobody watches", "wait_linux.go", "	return err == nil && !seated\n", "	return err == nil || !seated\n", "TestStoppedWithBaton"},
	{"all watch", "wait_linux.go", "	return err == nil && !seated\n", "	return err == nil && seated && !seated\n", "TestReleaseWakesOne"},
}

// TestMutations: each rule of the kernel's queue, and the two that keep two from holding the
// lock, are needed, and a test knows it.
func TestMutations(t *testing.T) {
	lab.NotShort(t, "it builds and runs the tests once for each mutation")
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel() // most are found out by a test that waits in vain
			list, err := overlay.Write(t.TempDir(), []overlay.Edit{{File: "backends/local/" + m.file, Old: m.old, New: m.new}})
			if err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("go", "test", "-overlay", list, "-run", "^"+m.test+"$", "-timeout", "20s", ".").CombinedOutput()
			failed := strings.Contains(string(out), "--- FAIL: "+m.test) || strings.Contains(string(out), "test timed out")
			if err == nil || !failed {
				t.Errorf("%s does not find out: %v\n%.2000s", m.test, err, out)
			}
		})
	}
}

// TestMutationsApply: what the mutations change is there.
func TestMutationsApply(t *testing.T) {
	for _, m := range mutations {
		if _, err := overlay.Write(t.TempDir(), []overlay.Edit{{File: "backends/local/" + m.file, Old: m.old, New: m.new}}); err != nil {
			t.Errorf("mutation %q: %v", m.name, err)
		}
	}
}
