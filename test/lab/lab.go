// Package lab is what tests need that start programs: the programs, processes one can talk
// to and wait for, and skips that are failures where all tests should run.
//
//	func TestMain(m *testing.M) { lab.Main(m, nil) }
//
//	func TestRelease(t *testing.T) {
//		lab.NeedRoot(t)
//		h := lab.Hold(t, exec.Command(lab.Program(t, "cmd/locksmith"), "hold", "local:"+path))
//		h.Held()
//		lab.Eventually(t, "the lock is there", func() bool { return exists(path) })
//		h.Release()
//	}
//
// Whoever waits here waits for an event. Patience only ends a test that hangs, and is
// counted so that no pause of the machine uses it up.
//
// Programs are built without the C library, as released ones are, once for each test binary
// that asks for them, or once for all: they are taken from the directory that
// LOCKSMITH_TEST_PROGRAMS names, as far as they are there under the last part of their
// package's name. All users must be able to run them there.
//
// Of our packages this one imports protocol alone, so that all others' tests can use it.
package lab

// T is a test, or whoever else processes are started for.
type T interface {
	Helper()
	Fatalf(format string, args ...any) // does not return
	Cleanup(f func())
}
