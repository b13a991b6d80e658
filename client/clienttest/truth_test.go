package clienttest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"locksmith/client"
	"locksmith/client/clienttest"
	"locksmith/cmd/locksmith/cli"
	"locksmith/test/lab"
)

// The test binary is the helper with which the fake ones are compared.
func TestMain(m *testing.M) {
	client.Init(cli.Main)
	os.Exit(m.Run())
}

// told is what a program learns of an acquisition, without what differs each time.
func told(l *client.Lock, err error) string {
	var text []string
	if l != nil {
		text = append(text, fmt.Sprint("held, index ", l.Index()))
		for _, token := range l.Tokens() {
			text = append(text, fmt.Sprint("has a token: ", token > 0))
		}
	}
	if held, ok := errors.AsType[*client.HeldError](err); ok {
		text = append(text, fmt.Sprint("by somebody, code ", held.Code, ", has an id ", held.Holder.ID != ""))
	}
	if refused, ok := errors.AsType[*client.HelperError](err); ok {
		text = append(text, fmt.Sprint("refused, code ", refused.Code))
	}
	for _, is := range []error{client.ErrGaveUp, client.ErrUsage, client.ErrLost, context.DeadlineExceeded} {
		if errors.Is(err, is) {
			text = append(text, is.Error())
		}
	}
	return strings.Join(text, "; ")
}

// TestAsAHelper: with a fake a program learns what it does with a helper.
func TestAsAHelper(t *testing.T) {
	policy := func(pause time.Duration, most int) client.Option {
		return client.Wait(func(tries int, _ time.Duration, held *client.HeldError) (time.Duration, bool) {
			return pause, tries < most && held.Holder.ID != ""
		})
	}
	for name, c := range map[string]struct {
		lock    string // below a directory
		held    string // the same, held by somebody else
		options func(lock func(string) string) []client.Option
	}{
		"local":                  {lock: "local:a"},
		"nfs":                    {lock: "nfs:a"},
		"flock":                  {lock: "flock:a"},
		"link":                   {lock: "link:a"},
		"mkdir":                  {lock: "mkdir:a"},
		"mkdir, dir style":       {lock: "mkdir:a?style=dir"},
		"dir style, no tokens":   {lock: "mkdir:a?style=dir&tokens=no"},
		"held":                   {lock: "nfs:a", held: "nfs:a", options: one(client.Timeout(0))},
		"held, another spelling": {lock: "nfs:b/../a", held: "nfs:a", options: one(client.Timeout(0))},
		"held, double slash":     {lock: "nfs:.//a", held: "nfs:a", options: one(client.Timeout(0))},
		"timeout":                {lock: "local:a", held: "local:a", options: one(client.Timeout(50 * time.Millisecond))},
		"no retry":               {lock: "local:a", held: "local:a", options: one(client.Retries(0))},
		"retries":                {lock: "local:a", held: "local:a", options: one(client.Retries(2))},
		"a policy that gives up": {lock: "local:a", held: "local:a", options: one(policy(time.Millisecond, 3))},
		"a policy and a timeout": {lock: "local:a", held: "local:a", options: func(func(string) string) []client.Option {
			return []client.Option{policy(0, 3), client.Timeout(100 * time.Millisecond)}
		}},
		"shared nfs":              {lock: "nfs:a", options: one(client.Shared())},
		"shared flock":            {lock: "flock:a", options: one(client.Shared())},
		"shared local":            {lock: "local:a", options: one(client.Shared())},
		"shared link":             {lock: "link:a", options: one(client.Shared())},
		"shared mkdir":            {lock: "mkdir:a", options: one(client.Shared())},
		"shared mkdir, dir style": {lock: "mkdir:a?style=dir", options: one(client.Shared())},
		"fenced nfs":              {lock: "nfs:a", options: one(client.Fenced())},
		"fenced local":            {lock: "local:a", options: one(client.Fenced())},
		"no path":                 {lock: "local:"},
		"a directory":             {lock: "local:a/"},
		"a set": {lock: "local:a", options: func(lock func(string) string) []client.Option {
			return []client.Option{client.And(lock("nfs:b"), lock("mkdir:c"))}
		}},
		"a set, the same twice": {lock: "nfs:a", options: func(lock func(string) string) []client.Option { return []client.Option{client.And(lock("nfs:a"))} }},
		"any":                   {lock: "local:a", held: "local:a", options: func(lock func(string) string) []client.Option { return []client.Option{client.Or(lock("nfs:b"))} }},
	} {
		t.Run(name, func(t *testing.T) {
			results := map[string]string{}
			locks := clienttest.New(t)
			for who, ctx := range map[string]context.Context{"helper": t.Context(), "fake": locks.Context(t.Context())} {
				dir := t.TempDir()
				lock := func(name string) string {
					kind, path, _ := strings.Cut(name, ":")
					if path == "" {
						return name
					}
					return kind + ":" + dir + "/" + path
				}
				var options []client.Option
				if c.options != nil {
					options = c.options(lock)
				}
				if c.held != "" {
					holder, err := client.Acquire(ctx, lock(c.held))
					if err != nil {
						t.Fatal(err)
					}
					defer holder.Release()
				}
				var l *client.Lock
				var err error
				lab.Eventually(t, "a helper answers in time", func() (answered bool) {
					l, err = client.Acquire(ctx, lock(c.lock), options...)
					return err == nil || !strings.Contains(err.Error(), "no answer within ") // as on a machine too busy to start one
				})
				results[who] = told(l, err)
				if l != nil {
					if err := l.Release(); err != nil {
						t.Error(err)
					}
				}
			}
			if results["helper"] != results["fake"] || results["fake"] == "" {
				t.Errorf("a fake: %s\na helper: %s", results["fake"], results["helper"])
			}
		})
	}
}

func one(o client.Option) func(func(string) string) []client.Option {
	return func(func(string) string) []client.Option { return []client.Option{o} }
}

// TestFakeWaiting: the function of Waiting is called, and the lock comes when it is free.
func TestFakeWaiting(t *testing.T) {
	locks := clienttest.New(t)
	locks.Hold(address)
	told := 0
	l, err := client.Acquire(locks.Context(t.Context()), address, client.Waiting(func(held *client.HeldError) {
		if told++; held.Holder.ID != "" {
			locks.Free(address)
		}
	}))
	if err != nil || told != 1 {
		t.Fatalf("told %d times: %v", told, err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

// TestFakeMaxHold: a lock that is held for too long is lost.
func TestFakeMaxHold(t *testing.T) {
	l, err := client.Acquire(clienttest.New(t).Context(t.Context()), address, client.MaxHold(10*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	<-l.Lost()
	if lost, ok := errors.AsType[*client.LostError](l.Release()); !ok || lost.Code != "max_hold" {
		t.Errorf("Release returns %v", l.Err())
	}
}

// TestFakeShared: readers share a lock, and a writer waits for them.
func TestFakeShared(t *testing.T) {
	locks := clienttest.New(t)
	ctx := locks.Context(t.Context())
	one, err1 := client.Acquire(ctx, "nfs:/a", client.Shared())
	other, err2 := client.Acquire(ctx, "nfs:/a", client.Shared())
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if _, err := client.TryAcquire(ctx, "nfs:/a"); !errors.Is(err, client.ErrHeld) {
		t.Errorf("a writer beside readers: %v", err)
	}
	if err := errors.Join(one.Release(), other.Release()); err != nil || locks.IsHeld("nfs:/a") {
		t.Error(err)
	}
}

// TestNotModelled: what the fakes do not model fails the test that asks for it.
func TestNotModelled(t *testing.T) {
	for _, lock := range []string{"billing", "zookeeper:/lock", "/var/lock/x"} {
		u := &unreleased{TB: t}
		if l, err := client.Acquire(clienttest.New(u).Context(t.Context()), lock); err == nil || !u.failed {
			t.Errorf("%s: the test does not fail; %v", lock, err)
			_ = l.Release()
		}
	}
}
