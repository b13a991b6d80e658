package backendtest

import (
	"errors"
	"locksmith/backends/backend"
	"testing"
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
	h, err := attempt(t, f, r).Try(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func mustBeHeld(t *testing.T, a backend.Attempt) *backend.HeldError {
	t.Helper()
	h, err := a.Try(t.Context())
	var held *backend.HeldError
	if !errors.As(err, &held) {
		t.Fatalf("try returned %v, %v, want a HeldError", h, err)
	}
	return held
}

func release(t *testing.T, h backend.Hold) {
	t.Helper()
	if err := h.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func nothingLeft(t *testing.T, f Fixture) {
	t.Helper()
	if left := f.Leftovers(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func mustStillHold(t *testing.T, h backend.Hold) {
	t.Helper()
	if err := h.Heartbeat(t.Context()); err != nil {
		t.Errorf("the holder was hit: %v", err)
	}
}

func mustBeLost(t *testing.T, h backend.Hold) {
	t.Helper()
	if err := h.Heartbeat(t.Context()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("heartbeat of a broken holder: %v", err)
	}
	if err := h.Release(t.Context()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("release of a broken holder: %v", err)
	}
}

func mustWithdraw(t *testing.T, a backend.Attempt) {
	t.Helper()
	if err := a.Withdraw(t.Context()); err != nil {
		t.Error(err)
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
