//go:build linux

package nfslab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"locksmith/test/lab/holds"
)

// A history is what contenders told of one lock.
type history struct {
	mu     sync.Mutex
	held   []holds.Hold // from after OK
	wants  []holds.Hold // from ask to take, to the kill, or to the refusal
	kills  []kill
	losses []string
	quota  int           // of kills
	enough chan struct{} // closed when there were as many
}

// A kill is one with -9; see killer.killOne for whom.
type kill struct {
	who  string
	at   time.Duration
	whom int
}

// race runs contenders on host k until they are done. One that kills itself
// ends without an error.
func (h *history) race(ctx context.Context, k int, c contender) error {
	cmd := onHost(ctx, k, c.argv()...)
	var stderr safeBuffer
	cmd.Stderr = &stderr
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		return err
	}
	go func() {
		select {
		case <-h.enough:
		case <-ctx.Done():
		}
		_ = stdin.Close()
	}()
	killed := h.read(bufio.NewScanner(stdout), c)
	if err := cmd.Wait(); err != nil && !killed {
		return fmt.Errorf("%s: %w\n%s", c.name, err, &stderr)
	}
	return nil
}

// read takes one contender's story, and reports whether it ends with a kill.
func (h *history) read(lines *bufio.Scanner, c contender) (killed bool) {
	last, want := -1, -1
	for lines.Scan() {
		var at int64
		var token uint64 // or whom a kill hit
		word, rest, _ := strings.Cut(lines.Text(), " ")
		_, _ = fmt.Sscan(rest, &at, &token)
		h.mu.Lock()
		if want >= 0 && (word == "take" || word == "kill" || word == "refused") {
			h.wants[want].End = time.Duration(at)
			want = -1
		}
		switch killed = word == "kill"; word {
		case "ask":
			h.wants = append(h.wants, holds.Hold{Who: c.name, Shared: c.mode == "shared", Start: time.Duration(at), End: time.Duration(at)})
			want = len(h.wants) - 1
		case "take":
			h.held = append(h.held, holds.Hold{Who: c.name, Shared: c.mode == "shared", Start: time.Duration(at), End: 1 << 62, Token: token})
			last = len(h.held) - 1
		case "give":
			h.held[last].End = time.Duration(at)
		case "kill":
			h.kills = append(h.kills, kill{c.name, time.Duration(at), int(token)})
			if len(h.kills) == h.quota {
				close(h.enough)
			}
		case "lost":
			h.held[last].End = h.held[last].Start
			h.losses = append(h.losses, c.name+": "+rest)
		}
		h.mu.Unlock()
	}
	return killed
}

// raceAll runs contenders, the first on host 1, the second on host 2 and so on.
func (h *history) raceAll(t *testing.T, within time.Duration, all []contender) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	var wg sync.WaitGroup
	for i, c := range all {
		k := i%hosts + 1
		c.name = fmt.Sprintf("contender %d on host %d", i, k)
		wg.Go(func() {
			if err := h.race(ctx, k, c); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		t.Errorf("not done within %v: %d acquisitions", within, len(h.held))
	}
}
