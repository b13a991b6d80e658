//go:build unix

package history

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"locksmith/backends/clock"
	"locksmith/backends/process"
)

// roleWorker is the command that rivals run under their lock. It writes down when it begins, and
// when it ends or is told to.
const roleWorker = "worker"

const (
	workLog  = "LOCKSMITH_TEST_WORK_LOG"
	workName = "LOCKSMITH_TEST_WORK_NAME"
	workTime = "LOCKSMITH_TEST_WORK_TIME"
)

// What a worker writes, and what the test writes of one that is gone.
const (
	wordTake = "take" // it has the lock
	wordGive = "give" // it has done its work
	wordTold = "told" // it was told to end
)

func work() int {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	log, err := os.OpenFile(os.Getenv(workLog), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return 1
	}
	d, err := time.ParseDuration(os.Getenv(workTime))
	if err != nil {
		return 1
	}
	tell := func(word string) {
		_, _ = fmt.Fprintf(log, "%s %s %d %d\n", word, os.Getenv(workName), clock.Boot{}.Now(), os.Getpid())
	}
	tell(wordTake)
	select {
	case <-time.After(d):
		tell(wordGive)
		return 0
	case <-told:
		tell(wordTold)
		return 1
	}
}

// A note is a line of a worker's.
type note struct {
	word, name string
	at         time.Duration
	pid        int
}

func notes(t *testing.T, file string) (all []note) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
	for line := range strings.Lines(string(text)) {
		var n note
		if _, err := fmt.Sscan(line, &n.word, &n.name, &n.at, &n.pid); err == nil {
			all = append(all, n)
		}
	}
	return all
}

// gone reports whether a worker has ended, even if nobody has waited for it yet.
func gone(pid int) bool {
	p, err := process.Find(pid)
	return err != nil || p.Gone()
}
