package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	lockclient "locksmith/client"
	"locksmith/test/lab"
)

// TestPoolSize measures how long requests that come at once take, each under a lock of its own, with
// pools of several sizes.
func TestPoolSize(t *testing.T) {
	lab.NotShort(t, "builds a program, and takes some seconds")
	t.Setenv("LOCKSMITH", lab.Program(t, "cmd/locksmith"))
	times := 3
	if *rounds > 0 {
		times = 20 * *rounds
	}
	text := fmt.Sprintf("| size of the pool | ms until %d requests at once are served, p50 |\n| --- | --- |\n", serviceFlight)
	for _, size := range []int{0, 8, serviceFlight} {
		text += fmt.Sprintf("| %d | %.0f |\n", size, percentile(atOnce(t, size, times), 50))
	}
	fmt.Printf("\n%s:\n\n%s\n", machine(), text)
	head, _, _ := strings.Cut(text, "\n")
	mustHaveRows(t, "README.md", head+"\n")
}

// atOnce returns the milliseconds that each burst of requests took.
func atOnce(t *testing.T, size, times int) (all []float64) {
	pool := &lockclient.Pool{Size: size}
	defer pool.Close()
	dir := t.TempDir()
	for range times + 1 { // the first has the helpers started
		begun := time.Now()
		var requests sync.WaitGroup
		for i := range serviceFlight {
			requests.Go(func() {
				if err := pool.Do(t.Context(), "local:"+filepath.Join(dir, fmt.Sprint(i)), func(context.Context) error { return nil }); err != nil {
					t.Error(err)
				}
			})
		}
		requests.Wait()
		all = append(all, ms(time.Since(begun)))
		time.Sleep(200 * time.Millisecond) // until the helpers wait again
	}
	return all[1:]
}
