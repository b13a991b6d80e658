package term

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestMessagesComeLater: a reader that does not read keeps no writer waiting for long, and in the
// end finds all messages in order.
func TestMessagesComeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		m := &Messages{Out: w}
		start := time.Now()
		for i := range 3 {
			fmt.Fprintln(m, i)
		}
		if d := time.Since(start); d > 3*soon || !m.Stuck() {
			t.Errorf("three messages that nobody reads take %v; stuck: %v", d, m.Stuck())
		}
		var got strings.Builder
		go func() {
			time.Sleep(atLast / 2)
			_, _ = io.Copy(&got, r)
		}()
		m.Finish()
		if got.String() != "0\n1\n2\n" || m.Stuck() {
			t.Errorf("once somebody reads, %q came; stuck: %v", got.String(), m.Stuck())
		}
		_ = w.Close()
		close(m.queue)
	})
}

// TestMessagesNobodyReads: the wait for a reader has an end, and so has the number of messages
// that are kept.
func TestMessagesNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		m := &Messages{Out: w}
		start := time.Now()
		for range 2 * maxMessages {
			fmt.Fprintln(m, "unread")
		}
		m.Finish()
		if d := time.Since(start); d > (maxMessages+1)*soon+atLast {
			t.Errorf("Finish, with nobody reading, takes %v, want %v at most", d, (maxMessages+1)*soon+atLast)
		}
		go func() { _, _ = io.Copy(io.Discard, r) }()
		time.Sleep(atLast)
		if m.Stuck() {
			t.Errorf("all is read, and %d messages count as unread: those that were left out must not count (Write, messages.go)", m.pending.Load())
		}
		_ = r.Close()
		close(m.queue)
	})
}

// TestNoMessages: a process without messages does not wait for a reader.
func TestNoMessages(t *testing.T) {
	new(Messages).Finish()
}
