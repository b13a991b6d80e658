package lab

import (
	"strings"
	"time"
)

// Patience is how long a test waits for what should come at once, on the slowest machine.
// Only time counts in which the test runs: a pause of the machine, however long, is a second
// of it at most.
const Patience = 2 * time.Minute

// Eventually waits until something is so. Where it never is, state says what there is
// instead.
func Eventually(t T, what string, is func() bool, state ...func() string) {
	t.Helper()
	pause := time.Millisecond
	for waited := time.Duration(0); !is(); waited += pause {
		if waited > Patience {
			var now strings.Builder
			for _, s := range state {
				now.WriteString("\n" + s())
			}
			t.Fatalf("not within %v: %s%s", Patience, what, now.String())
		}
		pause = min(2*pause, 20*time.Millisecond)
		time.Sleep(pause)
	}
}

// receive waits for a value, or for a channel's end.
func receive[V any](c <-chan V) (v V, open, inTime bool) {
	for range Patience / time.Second {
		select {
		case v, open = <-c:
			return v, open, true
		case <-time.After(time.Second):
		}
	}
	return v, false, false
}
