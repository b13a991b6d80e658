package backend

import (
	"context"
	"errors"
	"testing"
)

// TestRetry: others' progress makes it try again, and what went wrong each time is told.
func TestRetry(t *testing.T) {
	fault := &Error{Err: errors.New("full")}
	for name, c := range map[string]struct {
		errs  []error
		tries int
		want  error
	}{
		"at once":      {[]error{nil}, 1, nil},
		"in the end":   {[]error{ErrAgain, errors.Join(ErrAgain, fault), nil}, 3, nil},
		"another":      {[]error{ErrAgain, ErrGone}, 2, ErrGone},
		"used up":      {[]error{errors.Join(ErrAgain, fault), ErrAgain, ErrAgain}, 3, ErrAgain},
		"with a fault": {[]error{ErrAgain, ErrAgain, errors.Join(ErrAgain, fault)}, 3, fault},
	} {
		n := 0
		_, err := Retry(t.Context(), 3, func() (int, error) {
			n++
			return n, c.errs[n-1]
		})
		if n != c.tries || !errors.Is(err, c.want) {
			t.Errorf("%s: %v after %d tries", name, err, n)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Retry(ended, 3, func() (int, error) { return 0, ErrAgain }); !errors.Is(err, context.Canceled) {
		t.Errorf("it goes on: %v", err)
	}
}
