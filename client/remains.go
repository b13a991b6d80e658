package client

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// remainsTime bounds the removal of what a dead helper left. What takes longer frees itself
	// when its lease is over.
	remainsTime = 10 * time.Second
	// remainsAtOnce is how many locks of a set are removed at a time.
	remainsAtOnce = 4
)

// breakRemains removes the lock of a helper that has died, by the id of this acquisition. That
// id is never used again, so no other holder can be hit. A new process does it. It makes sure
// that the helper is dead and had the lock for this process. What it cannot remove frees itself
// when its lease is over.
func (l *Lock) breakRemains() {
	ids := strings.Split(l.grant.ID, ",")
	locks := l.remains(len(ids))
	if l.helper.program == nil || l.grant.ID == "" || locks == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), remainsTime)
	defer cancel()
	var all sync.WaitGroup
	turns := make(chan struct{}, remainsAtOnce)
	for i, id := range ids {
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			cmd := l.helper.command(ctx, "break", "--left-by", strconv.Itoa(os.Getpid()), "--id", id, "--", locks[i])
			_ = cmd.Run() // a helper of another kind does not know this; then the lease decides
		})
	}
	all.Wait()
}

// remains are the addresses of n locks, without modes. They are as they were given, because a
// profile says more than an address. If some came twice, or the lock is one of several, they are
// as the helper calls them.
func (l *Lock) remains(n int) []string {
	locks := l.given
	if len(locks) != n {
		locks = strings.Split(l.grant.Lock, "\n")
	}
	if len(locks) != n {
		return nil
	}
	locks = slices.Clone(locks)
	for i := range locks {
		locks[i] = withoutMode(locks[i])
	}
	return locks
}

// withoutMode is an address without the mode that may stand before it.
func withoutMode(lock string) string {
	return strings.TrimPrefix(strings.TrimPrefix(lock, "shared:"), "exclusive:")
}

// command is the helper's program with other arguments. What it writes goes nowhere.
func (h *helper) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, h.cmd.Path)
	cmd.Args, cmd.Env = slices.Concat(h.program, args), h.cmd.Env
	cmd.WaitDelay = time.Second
	return cmd
}
