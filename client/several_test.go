package client_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"locksmith/client"
)

// TestSeveral: Do, TryAcquire and a pool are for several locks, too: for all of them, and for
// whichever is free.
func TestSeveral(t *testing.T) {
	p := &client.Pool{Size: 1}
	defer p.Close()
	for name, w := range map[string]struct {
		do  func(context.Context, string, func(context.Context) error, ...client.Option) error
		try func(context.Context, string, ...client.Option) (*client.Lock, error)
	}{"package": {client.Do, client.TryAcquire}, "pool": {p.Do, p.TryAcquire}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			one, two, three := "local:"+filepath.Join(dir, "one"), "nfs:"+filepath.Join(dir, "two"), "local:"+filepath.Join(dir, "three")
			err := w.do(t.Context(), one, func(ctx context.Context) error {
				if tokens := client.FromContext(ctx).Tokens(); len(tokens) != 2 || tokens[1] != 1 {
					t.Errorf("the tokens of the set are %v", tokens)
				}
				if _, err := answered(t, func() (*client.Lock, error) { return w.try(t.Context(), three, client.And(two)) }); !errors.Is(err, client.ErrHeld) {
					t.Errorf("a set of which one is held: %v", err)
				}
				return w.do(t.Context(), two, func(ctx context.Context) error {
					if l := client.FromContext(ctx); l.Index() != 1 || l.Address() != three {
						t.Errorf("of two locks of which the second is free Do has %s, %d", l.Address(), l.Index())
					}
					return errWork
				}, client.Or(three))
			}, client.And(two))
			if !errors.Is(err, errWork) {
				t.Error(err)
			}
		})
	}
}
