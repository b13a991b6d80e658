package backendtest

import (
	"testing"

	"locksmith/backends/backend"
)

func attempt(t *testing.T, f Fixture, r backend.Request) backend.Attempt {
	t.Helper()
	a, err := f.Open().Attempt(r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func take(t *testing.T, f Fixture, r backend.Request) backend.Hold {
	t.Helper()
	return MustHold(t, attempt(t, f, r))
}

func nothingLeft(t *testing.T, f Fixture) {
	t.Helper()
	if left := f.Leftovers(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func report(t *testing.T, f Fixture) backend.Report {
	t.Helper()
	r, err := f.Open().Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}
