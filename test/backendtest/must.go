package backendtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"locksmith/backends/backend"
	"locksmith/protocol"
)

// MustWork ends a test at the first error.
func MustWork(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatalf("a step that must work fails: %v", err)
		}
	}
}

// MustFail checks an error's code and a part of its text.
func MustFail(t *testing.T, err error, code protocol.Code, says string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("a call that must fail returns no error, want one with code %s that says %q", code, says)
	case backend.CodeOf(err) != code || !strings.Contains(err.Error(), says):
		t.Errorf("a call returns the error %q with code %s, want code %s and a text that says %q", err, backend.CodeOf(err), code, says)
	}
}

// MustHold takes a lock that is free.
func MustHold(t *testing.T, a backend.Attempt) backend.Hold {
	t.Helper()
	h, err := a.Try(t.Context())
	if err != nil {
		t.Fatalf("Try does not take a lock that must be free by now: %v", err)
	}
	return h
}

// MustAcquire alternates Try and Wait as the helper does, in real time.
func MustAcquire(t *testing.T, a backend.Attempt) backend.Hold {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	h, err := backend.Acquire(ctx, a)
	if err != nil {
		t.Fatalf("Try and Wait by turns do not take the lock within %v: %v", patience, err)
	}
	return h
}

// MustBeHeld makes sure that a try finds the lock held, and returns what it says of the holder.
func MustBeHeld(t *testing.T, a backend.Attempt) *backend.HeldError {
	t.Helper()
	h, err := a.Try(t.Context())
	var held *backend.HeldError
	if !errors.As(err, &held) {
		t.Fatalf("Try of a lock that somebody has: %s; want a *backend.HeldError", outcome(h, err))
	}
	return held
}

// shown is holders in words.
func shown(all []backend.Holder) string {
	if len(all) == 0 {
		return "nobody"
	}
	var words []string
	for _, h := range all {
		record := "without a record"
		if h.Record != nil {
			record = fmt.Sprintf("with the record of %s (user %s)", h.Record.ID, h.Record.User)
		}
		words = append(words, fmt.Sprintf("pid %d %s, verdict %q", h.PID, record, h.Verdict))
	}
	return strings.Join(words, " and ")
}

// outcome says in words what a call returned.
func outcome(h backend.Hold, err error) string {
	switch {
	case err != nil:
		return "the error " + strconv.Quote(err.Error())
	case h != nil:
		return "the lock"
	}
	return "no error"
}

// MustStillHold makes sure by a heartbeat that the lock is still held.
func MustStillHold(t *testing.T, h backend.Hold) {
	t.Helper()
	if err := h.Heartbeat(t.Context()); err != nil {
		t.Errorf("Heartbeat of a holder whom nobody may break fails: %v", err)
	}
}

// MustBePrintable makes sure that what people are told has no control characters, whatever others
// wrote.
func MustBePrintable(t *testing.T, s string) {
	t.Helper()
	if strings.ContainsFunc(strings.ReplaceAll(s, "\n", ""), protocol.IsControl) {
		t.Errorf("control characters in %q", s)
	}
}

// MustBeLost makes sure that a broken holder finds its entry gone, and hits nobody.
func MustBeLost(t *testing.T, h backend.Hold) {
	t.Helper()
	if err := h.Heartbeat(t.Context()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("Heartbeat of a broken holder: %s; want ErrGone", outcome(nil, err))
	}
	if err := h.Release(t.Context()); !errors.Is(err, backend.ErrGone) {
		t.Errorf("Release of a broken holder: %s; want ErrGone", outcome(nil, err))
	}
}

// MustRelease gives up a lock that is still ours.
func MustRelease(t *testing.T, h backend.Hold) {
	t.Helper()
	if err := h.Release(t.Context()); err != nil {
		t.Fatalf("Release of a lock that is still ours fails: %v", err)
	}
}

// MustWithdraw ends an attempt that does not hold the lock.
func MustWithdraw(t *testing.T, a backend.Attempt) {
	t.Helper()
	if err := a.Withdraw(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Clutter puts a directory, a file or a symbolic link of each of these names into a
// directory, and returns what it put there.
func Clutter(t *testing.T, dir string, names []string) []string {
	t.Helper()
	var put []string
	for i, name := range names {
		path := filepath.Join(dir, name)
		put = append(put, path)
		switch i % 3 {
		case 0:
			MustWork(t, os.Mkdir(path, 0o755))
		case 1:
			MustWork(t, os.WriteFile(path, []byte("mine"), 0o644))
		default:
			MustWork(t, os.Symlink("/etc/passwd", path))
		}
	}
	return put
}

// MustBeThere makes sure that nobody removed what Clutter put there.
func MustBeThere(t *testing.T, put []string) {
	t.Helper()
	for _, path := range put {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("it is gone: %v", err)
		}
	}
}

// MustStay makes sure that an action changes nothing below a directory.
func MustStay(t *testing.T, dir string, action func()) {
	t.Helper()
	before := listing(t, dir)
	action()
	if after := listing(t, dir); after != before {
		t.Errorf("there was\n%s, now\n%s", before, after)
	}
}

// listing returns the names and types of everything below a directory. It follows no links.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	MustWork(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil {
			b.WriteString(e.Type().String() + " " + path + "\n")
		}
		return err
	}))
	return b.String()
}

// BreakID breaks somebody of whom nothing but the id is known.
func BreakID(ctx context.Context, b interface {
	Read(context.Context) (backend.Report, error)
	Strike(context.Context, backend.Holder) error
}, id string) error {
	return backend.Break(ctx, b, "lock:of-the-test", backend.Holder{ID: id})
}
