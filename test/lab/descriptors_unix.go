//go:build unix

package lab

import (
	"syscall"
	"testing"
)

// FewDescriptors lets this process open no file whose descriptor is most or more, as if so many were
// open already. It returns a function that takes that back, which the end of the test does as well.
func FewDescriptors(t testing.TB, most int) (restore func()) {
	t.Helper()
	var usual syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &usual); err != nil {
		t.Fatal(err)
	}
	few := usual
	assign(&few.Cur, most)
	set := func(limit syscall.Rlimit) {
		t.Helper()
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Fatal(err)
		}
	}
	restore = func() { set(usual) }
	t.Cleanup(restore)
	set(few)
	return restore
}

// assign sets a number whose type depends on the system.
func assign[N ~int64 | ~uint64](to *N, n int) { *to = N(n) }
