// Package lab is for tests that start programs. It has the programs, processes to talk to and
// wait for, and skips that become failures where all tests should run.
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
// Every wait here is for an event. Patience only ends a test that hangs. It counts so that no
// pause of the machine uses it up.
//
// Programs are built without the C library, as released ones are, once for each test binary that
// asks for them. Or they are built once for all tests: programs in the directory that
// LOCKSMITH_TEST_PROGRAMS names are used, under the last part of their package's name. All users
// must be able to run them there.
//
// This package imports only protocol of our packages, so that the tests of all others can use it.
package lab

// T is a test, or anything else for which processes are started.
type T interface {
	Helper()
	Fatalf(format string, args ...any) // does not return
	Cleanup(f func())
}
