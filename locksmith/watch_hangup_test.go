package locksmith

import (
	"context"
	"os"
	"testing"
	"time"

	"locksmith/test/lab"
)

// TestHangup: bytes are no hang-up, and stay unread. The end of the other side is one, for an end
// that reads and for one that writes.
func TestHangup(t *testing.T) {
	for name, ends := range map[string]func(r, w *os.File) (watched, other *os.File){
		"reading": func(r, w *os.File) (*os.File, *os.File) { return r, w },
		"writing": func(r, w *os.File) (*os.File, *os.File) { return w, r },
	} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			defer w.Close()
			if _, err := w.WriteString("bytes"); err != nil {
				t.Fatal(err)
			}
			watched, other := ends(r, w)
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			if err := Hangup(ctx, watched, name == "reading"); err == nil {
				t.Fatal("told with both ends open")
			}
			done := make(chan error, 1)
			go func() { done <- Hangup(t.Context(), watched, name == "reading") }()
			_ = other.Close()
			select {
			case err := <-done:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(lab.Patience):
				t.Error("the end went unnoticed")
			}
		})
	}
}
