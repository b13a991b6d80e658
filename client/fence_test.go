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

// TestFromContext: the work gets its lock, and of two locks the innermost.
func TestFromContext(t *testing.T) {
	if l := client.FromContext(t.Context()); l != nil {
		t.Errorf("FromContext without a lock is %v, want nil", l)
	}
	outer, inner := "nfs:"+filepath.Join(t.TempDir(), "outer"), "nfs:"+filepath.Join(t.TempDir(), "inner")
	err := client.Do(t.Context(), outer, func(ctx context.Context) error {
		l := client.FromContext(ctx)
		if l == nil || l.Address() != outer || l.Token() != 1 {
			t.Errorf("FromContext in Do is %v, want the lock of Do", l)
		}
		if client.FromContext(l.Context()) != l {
			t.Error("FromContext of Lock.Context is another lock")
		}
		return client.Do(ctx, inner, func(ctx context.Context) error {
			if got := client.FromContext(ctx).Address(); got != inner {
				t.Errorf("FromContext in the inner Do is %v, want the inner lock", got)
			}
			return nil
		})
	}, client.Fenced())
	if err != nil {
		t.Error(err)
	}
}

// TestFenced: Fenced refuses a lock, and a set, in which a token is missing.
func TestFenced(t *testing.T) {
	address, path := newLock(t)
	_, err := client.Acquire(t.Context(), address, client.Fenced())
	var refused *client.HelperError
	if !errors.As(err, &refused) || refused.Code != protocol.Usage || !strings.Contains(err.Error(), "without a fencing token") {
		t.Errorf("a lock without a token: Acquire returns %v, want a HelperError of the code usage", err)
	}
	mustBeFree(t, path)
	if _, err := client.Acquire(t.Context(), "nfs:"+path+".n", client.And(address), client.Fenced()); !errors.As(err, &refused) {
		t.Errorf("a set in which a lock has no token: %v, want a HelperError", err)
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

// A write to a database that refuses a holder which lost its lock and does not know it yet.
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

	var paused context.Context // the context of a holder which was stopped before it wrote
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
