package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A ledger is a directory in which processes count under a lock: the number is in counter, and
// log has a line with each number and who wrote it. They end when there is a file called stop.
type ledger string

var errLostUpdate = errors.New("lost update")

func newLedger(dir string) (ledger, error) {
	l := ledger(dir)
	return l, errors.Join(os.Mkdir(dir, 0o700), l.write("counter", "0\n"), l.write("log", ""))
}

func (l ledger) write(name, text string) error {
	return os.WriteFile(filepath.Join(string(l), name), []byte(text), 0o600)
}

// An account is what a log says.
type account struct {
	increments int
	handOffs   int // increments by another than the one before
	took       time.Duration
}

// account reads the log, of which the last line may be incomplete, and fails if two
// have written the same number: one of the increments was lost.
func (l ledger) account() (a account, err error) {
	text, err := os.ReadFile(filepath.Join(string(l), "log"))
	last, before := 0, ""
	for line := range strings.Lines(string(text)) {
		var n int
		var who string
		if !strings.HasSuffix(line, "\n") {
			break
		}
		if _, err := fmt.Sscan(line, &n, &who); err != nil || n <= last {
			return a, fmt.Errorf("%w: after %d the log says %q", errLostUpdate, last, line)
		}
		if a.increments++; who != before && before != "" {
			a.handOffs++
		}
		last, before = n, who
	}
	return a, err
}

// check compares the counter with the log. A process that was killed may have left the counter
// ahead, or half written.
func (l ledger) check(killed bool) error {
	a, err := l.account()
	if err != nil || killed {
		return err
	}
	text, err := os.ReadFile(filepath.Join(string(l), "counter"))
	if got := strings.TrimSpace(string(text)); err == nil && got != fmt.Sprint(a.increments) {
		return fmt.Errorf("%w: the counter is %q after %d increments", errLostUpdate, got, a.increments)
	}
	return err
}

// interim is what was added in a while, once all have had the time to come. The while is longer
// for tools that sleep, so that it has enough hand-offs to count.
func (p plan) interim(l ledger) (account, error) {
	time.Sleep(p.contend / 2)
	before, err := l.account()
	begin := time.Now()
	for err == nil {
		time.Sleep(p.contend)
		var a account
		a, err = l.account()
		a = account{a.increments - before.increments, a.handOffs - before.handOffs, time.Since(begin)}
		if a.handOffs >= p.changes || a.took >= p.most {
			return a, err
		}
	}
	return account{took: time.Since(begin)}, err
}

// TestLedger makes sure that the benchmark would notice a lost update.
func TestLedger(t *testing.T) {
	for _, x := range []struct {
		name, counter, log string
		killed, lost       bool
	}{
		{"in order", "3\n", "1 a\n2 b\n3 a\n", false, false},
		{"a number twice", "2\n", "1 a\n2 b\n2 a\n", false, true},
		{"a number twice, and killed", "2\n", "1 a\n2 b\n2 a\n", true, true},
		{"counter behind", "2\n", "1 a\n2 b\n3 a\n", false, true},
		{"counter torn", "", "1 a\n", false, true},
		{"counter torn by a kill", "", "1 a\n", true, false},
		{"counter ahead by a kill", "2\n", "1 a\n", true, false},
		{"torn log", "2\n", "1 a\nx\n", false, true},
	} {
		l, err := newLedger(filepath.Join(t.TempDir(), "ledger"))
		if err = errors.Join(err, l.write("counter", x.counter), l.write("log", x.log)); err != nil {
			t.Fatal(err)
		}
		if err := l.check(x.killed); errors.Is(err, errLostUpdate) != x.lost || !x.lost && err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
	}
}

// TestInterim: tools that sleep for longer than the usual time are watched until they have handed
// the lock on often enough, or up to a limit. What came before the usual half does not count.
func TestInterim(t *testing.T) {
	p := plan{contend: time.Second, changes: 5, most: time.Minute}
	for _, x := range []struct{ sleep, took time.Duration }{
		{time.Millisecond, time.Second},
		{3 * time.Second, 15 * time.Second},
		{25 * time.Second, p.most},
		{time.Hour, p.most},
	} {
		synctest.Test(t, func(t *testing.T) {
			l, err := newLedger(filepath.Join(t.TempDir(), "ledger"))
			if err != nil {
				t.Fatal(err)
			}
			log, err := os.OpenFile(filepath.Join(string(l), "log"), os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			var worker sync.WaitGroup
			worker.Go(func() { // each time as another
				for n, err := 1, error(nil); err == nil; n++ {
					time.Sleep(x.sleep)
					_, err = fmt.Fprintf(log, "%d worker%d\n", n, n)
				}
			})
			a, err := p.interim(l)
			log.Close()
			worker.Wait()
			if want := int(x.took / x.sleep); err != nil || a.handOffs < want-1 || a.handOffs > want+1 || a.increments < a.handOffs {
				t.Errorf("sleep %v: %+v, %v, want %d hand-offs", x.sleep, a, err, want)
			}
			if a.took < x.took-x.sleep || a.took > x.took+x.sleep {
				t.Errorf("sleep %v: it took %v, want %v", x.sleep, a.took, x.took)
			}
		})
	}
}
