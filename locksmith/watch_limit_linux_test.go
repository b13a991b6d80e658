package locksmith

import (
	"context"
	"os"
	"testing"
	"time"

	"locksmith/test/lab"
)

// TestHangupWithoutDescriptors: a parent that lets go is noticed even if no descriptor was left to
// wait with. Otherwise the lock would be held for as long as the parent lives.
func TestHangupWithoutDescriptors(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	restore := lab.FewDescriptors(t, 3)
	ctx, cancel := context.WithTimeout(t.Context(), lab.Patience)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- Hangup(ctx, r, true) }()
	select {
	case err = <-done:
		t.Errorf("Hangup gives up while both ends are open: %v", err)
		done <- err
	case <-time.After(300 * time.Millisecond):
	}
	restore()
	_ = w.Close()
	if err := <-done; err != nil {
		t.Errorf("the end went unnoticed: %v", err)
	}
}
