package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locksmith/client"
	"locksmith/protocol"
)

// TestFromContext: the work gets at its lock, and the innermost of two is its own.
func TestFromContext(t *testing.T) {
	if l := client.FromContext(t.Context()); l != nil {
		t.Errorf("without a lock it is %v", l)
	}
	outer, inner := "nfs:"+filepath.Join(t.TempDir(), "outer"), "nfs:"+filepath.Join(t.TempDir(), "inner")
	err := client.Do(t.Context(), outer, func(ctx context.Context) error {
		l := client.FromContext(ctx)
		if l == nil || l.Address() != outer || l.Token() != 1 {
			t.Errorf("the work has %v", l)
		}
		if client.FromContext(l.Context()) != l {
			t.Error("the context of the lock has another")
		}
		return client.Do(ctx, inner, func(ctx context.Context) error {
			if got := client.FromContext(ctx).Address(); got != inner {
				t.Errorf("the inner work has %v", got)
			}
			return nil
		})
	}, client.Fenced())
	if err != nil {
		t.Error(err)
	}
}

// TestFenced: without a token for each lock there is no lock.
func TestFenced(t *testing.T) {
	address, path := newLock(t)
	_, err := client.Acquire(t.Context(), address, client.Fenced())
	var refused *client.HelperError
	if !errors.As(err, &refused) || refused.Code != protocol.Usage || !strings.Contains(err.Error(), "without a fencing token") {
		t.Errorf("a lock without token: %v", err)
	}
	mustBeFree(t, path)
	if _, err := client.AcquireSet(t.Context(), []string{"nfs:" + path + ".n", address}, client.Fenced()); !errors.As(err, &refused) {
		t.Errorf("a set with one: %v", err)
	}
	mustBeFree(t, path)
}

// An account is a row of a database. Its update stands for
//
//	UPDATE account SET balance = $1, token = $2 WHERE id = 7 AND token <= $2
//
// which changes no row when somebody with a newer token was there before.
type account struct {
	balance int
	token   uint64
}

func (a *account) update(balance int, token uint64) (rows int) {
	if token < a.token {
		return 0
	}
	a.balance, a.token = balance, token
	return 1
}

// A write to a database that refuses who has lost the lock without knowing it yet.
func ExampleFromContext() {
	dir, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(dir)
	address := "nfs:" + filepath.Join(dir, "account-7")

	var row account
	write := func(ctx context.Context, balance int) error {
		token := client.FromContext(ctx).Token()
		if row.update(balance, token) == 0 {
			return fmt.Errorf("refused: token %d is older than that of the last write", token)
		}
		fmt.Println("token", token, "wrote", balance)
		return nil
	}

	var paused context.Context // that of a holder which was stopped before it wrote
	ctx := context.Background()
	for balance := range 2 {
		err := client.Do(ctx, address, func(ctx context.Context) error {
			if paused == nil {
				paused = ctx
				return nil
			}
			return write(ctx, balance)
		}, client.Fenced())
		if err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(write(paused, 1000000))
	// Output:
	// token 2 wrote 1
	// refused: token 1 is older than that of the last write
}
