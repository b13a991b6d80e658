package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A ledger is a directory in which processes count under a lock: the number is in
// counter, and log has a line with each number and who wrote it. They end when there
// is a file stop.
type ledger struct {
	dir     string
	stopped chan struct{}
}

// increment is not atomic, and leaves others time to come in between. Its arguments
// are the directory and the worker.
const increment = `read -r n <"$0/counter"; n=$((n+1)); echo $n >"$0/counter"; echo "$n $1" >>"$0/log"`

var errLostUpdate = errors.New("lost update")

func newLedger(dir string) (*ledger, error) {
	l := &ledger{dir: dir, stopped: make(chan struct{})}
	err := os.Mkdir(dir, 0o700)
	return l, errors.Join(err, l.write("counter", "0\n"), l.write("log", ""))
}

func (l *ledger) write(name, text string) error {
	return os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o600)
}

func (l *ledger) stop() error {
	close(l.stopped)
	return l.write("stop", "")
}

func (l *ledger) isStopped() bool {
	select {
	case <-l.stopped:
		return true
	default:
		return false
	}
}

// An account is what a log says.
type account struct {
	increments int
	handoffs   int // increments by another than the one before
	last       int // number
	took       time.Duration
}

// account reads the log, of which the last line may be incomplete, and fails if two
// have written the same number: one of the increments was lost.
func (l *ledger) account() (account, error) {
	text, err := os.ReadFile(filepath.Join(l.dir, "log"))
	if err != nil {
		return account{}, err
	}
	var a account
	var before string
	for line := range strings.Lines(string(text)) {
		var n int
		var who string
		if !strings.HasSuffix(line, "\n") {
			break
		}
		if _, err := fmt.Sscan(line, &n, &who); err != nil {
			return a, fmt.Errorf("%w: the log is torn: %q: %w", errLostUpdate, line, err)
		}
		if n <= a.last {
			return a, fmt.Errorf("%w: %d was written after %d", errLostUpdate, n, a.last)
		}
		if a.increments++; who != before && before != "" {
			a.handoffs++
		}
		a.last, before = n, who
	}
	return a, nil
}

// check compares the counter with the log. Who was killed may have left the counter
// ahead, or torn.
func (l *ledger) check(killed bool) error {
	a, err := l.account()
	if err != nil || killed {
		return err
	}
	text, err := os.ReadFile(filepath.Join(l.dir, "counter"))
	if err != nil {
		return err
	}
	if got := strings.TrimSpace(string(text)); got != fmt.Sprint(a.increments) {
		return fmt.Errorf("%w: the counter is %q after %d increments", errLostUpdate, got, a.increments)
	}
	return nil
}
