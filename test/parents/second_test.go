//go:build unix

package parents

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"locksmith/client"
	"locksmith/test/lab"
)

// second returns the directory of another helper, which was written from the page on the
// protocol alone. If parents cannot tell it from ours, the page says enough.
func second(t *testing.T) string {
	t.Helper()
	lab.NotShort(t, "starts interpreters")
	lab.NeedProgram(t, "python3")
	bin, err := filepath.Abs("testdata/second")
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// TestSecondHelper has the parents in all languages use that helper.
func TestSecondHelper(t *testing.T) {
	t.Parallel()
	for _, l := range all() {
		for _, s := range scenarios {
			t.Run(l.name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				f := newFixture(t, l)
				f.bin, f.scheme = second(t), "demo:"
				s.test(f)
			})
		}
	}
}

// TestSecondHelperUnderClient has package client use it.
func TestSecondHelperUnderClient(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), lab.Patience)
	defer cancel()
	helper := client.Helper(filepath.Join(second(t), "locksmith"))
	path := filepath.Join(t.TempDir(), "lock")
	lock, err := client.Acquire(ctx, "demo:"+path, helper)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.TryAcquire(ctx, "demo:"+path, helper); !errors.Is(err, client.ErrHeld) {
		t.Errorf("a second try of a held lock returns %v, want ErrHeld", err)
	}
	if err := lock.Err(); err != nil || lock.ID() == "" {
		t.Errorf("the lock that is held has the id %q; %v", lock.ID(), err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) || lock.HeldFor() > time.Hour {
		t.Errorf("after the release Held is %v; %v", lock.HeldFor(), err)
	}
	var refused *client.HelperError
	if _, err := client.Acquire(ctx, "local:"+path, helper); !errors.As(err, &refused) {
		t.Errorf("a kind that the helper does not know: %v", err)
	}
}
