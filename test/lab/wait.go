package lab

import (
	"strings"
	"time"
)

// Patience is how long a test waits for something that should come at once, even on the slowest
// machine. Only time in which the test runs counts: a pause of the machine, however long, uses up
// at most a second.
const Patience = 5 * time.Minute

// Eventually waits until is returns true. If it never does, the test fails, and state says what
// there is instead.
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

// receive waits for a value from a channel, or for the channel's end.
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
