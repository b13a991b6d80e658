//go:build unix

package ftplab

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"locksmith/backends/backend"
	"locksmith/test/ftpserver"
	"locksmith/test/lab/lifecycle"
)

// faults are what may happen to a command.
var faults = []struct {
	name  string
	fault ftpserver.Fault
}{
	{"cut before", ftpserver.Fault{At: ftpserver.Before, Do: ftpserver.Cut}},
	{"cut after", ftpserver.Fault{At: ftpserver.Answered, Do: ftpserver.Cut}},
	{"reset while sent", ftpserver.Fault{At: ftpserver.Sent, Do: ftpserver.Reset}},
	{"reset after", ftpserver.Fault{At: ftpserver.Answered, Do: ftpserver.Reset}},
	{"half an answer", ftpserver.Fault{At: ftpserver.Answered, Do: ftpserver.Truncate}},
	{"silence before", ftpserver.Fault{At: ftpserver.Before, Do: ftpserver.Stall}},
	{"silence after", ftpserver.Fault{At: ftpserver.Answered, Do: ftpserver.Stall}},
	{"421 before", ftpserver.Fault{At: ftpserver.Before, Do: ftpserver.Reply, Text: "421 Timeout"}},
}

// trouble: the connection breaks once, at each command of a lock's life in turn. The lock is then
// had or not had, never by two, goes on being held, and nothing is left behind. Without -long not
// every fault happens at every command, but some fault happens at each command.
func trouble(t *testing.T, kind, style string) {
	p := start(t, kind, style, ftpserver.Options{})
	commands := p.lifecycleCommands(t)
	step := len(faults)
	switch {
	case *long:
		step = 1
	case kind == "embedded":
		step = len(faults) / 2
	}
	var all []faultCase
	for i, f := range faults {
		for n := 1; n <= commands; n++ {
			if (i+n)%step == 0 {
				f.fault.Command = n
				all = append(all, faultCase{fmt.Sprintf("%s command %d", f.name, n), f.fault})
			}
		}
	}
	t.Logf("%d commands, %d faults: %v", commands, len(all), p.injectAll(t, all))
	p.clean()
}

// bytesCut: the connection ends after each byte in turn that the server says in a lock's life;
// without -long, only after every 26th byte.
func bytesCut(t *testing.T, kind, style string) {
	p := start(t, kind, style, ftpserver.Options{})
	every := 1
	if !*long {
		every = 26
	}
	n := 1 + rand.IntN(every)
	t.Logf("from %d", n)
	var all []faultCase
	for ; n < replyBytes; n += every {
		do := []ftpserver.Action{ftpserver.Cut, ftpserver.Reset}[n%2]
		all = append(all, faultCase{fmt.Sprintf("byte %d", n), ftpserver.Fault{Replies: n, Do: do}})
	}
	t.Logf("%d faults: %v", len(all), p.injectAll(t, all))
	p.clean()
}

// replyBytes is more than a server says in a lock's life, so that the last faults never happen.
const replyBytes = 1600

// A faultCase is a fault on the first connection.
type faultCase struct {
	name  string
	fault ftpserver.Fault
}

// injectAll goes through all fault cases, several at a time, and counts how often each result
// came.
func (p *place) injectAll(t *testing.T, all []faultCase) map[string]int {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	came := map[string]int{}
	next := make(chan faultCase)
	for range 8 {
		wg.Go(func() {
			for s := range next {
				c := p.in(t).inject(t, s)
				mu.Lock()
				came[c]++
				mu.Unlock()
			}
		})
	}
	for _, s := range all {
		next <- s
	}
	close(next)
	wg.Wait()
	return came
}

// lifecycleCommands counts the commands that a lifecycle without trouble sends.
func (p *place) lifecycleCommands(t *testing.T) int {
	t.Helper()
	by, proxy := p.in(t).behind()
	r := lifecycle.Life{Open: by.opened}
	if err := errors.Join(r.Whole()); err != nil {
		t.Fatal(err)
	}
	if left := by.leftovers(); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	return len(proxy.Commands())
}

// inject goes through a lifecycle in which a fault happens, and returns the result.
func (p *place) inject(t *testing.T, s faultCase) string {
	t.Helper()
	by, proxy := p.behind()
	silent := make(chan struct{}, 1)
	r := lifecycle.Life{Open: by.opened, Rival: p.open(), Silent: silent, Orphan: by.isOrphan}
	if s.fault.Do == ftpserver.Stall {
		s.fault.Then = func() { silent <- struct{}{} }
	}
	proxy.Fail(0, s.fault)
	acquired, broken := r.Whole()
	switch {
	case broken != nil:
		t.Errorf("%s: %v\n%s", s.name, broken, commandsTo(proxy))
		return "broken"
	case acquired != nil && !lifecycle.IsClear(acquired):
		t.Errorf("%s: the lock was not acquired: %v\n%s", s.name, acquired, commandsTo(proxy))
	}
	if p.isOrphan() {
		p.reapOrphan(t, s.name)
		return "orphan"
	}
	if left := p.leftovers(); len(left) > 0 {
		t.Errorf("%s: left behind: %q; acquire said %v\n%s", s.name, left, acquired, commandsTo(proxy))
	}
	if acquired != nil {
		return "not acquired"
	}
	return "held"
}

func (p *place) opened() backend.Backend { return p.open() }

// isOrphan reports whether only an empty lock of plain style is left. It is left if an answer was
// lost at the one moment where nobody can tell what the answer was.
func (p *place) isOrphan() bool {
	left := p.leftovers()
	return p.style == "plain" && len(left) == 1 && left[0] == "L"
}

// reapOrphan removes an empty lock that was left, as an operator would.
func (p *place) reapOrphan(t *testing.T, what string) {
	t.Helper()
	p.aged("L")
	found, err := p.openAt(p.parts("")).Reap(t.Context(), backend.Reaping{MaxAge: 600e9, Remove: true})
	if err != nil || len(p.leftovers()) > 0 {
		t.Errorf("%s: reap found %v, %v, and left %q", what, found, err, p.leftovers())
	}
}

// commandsTo lists what the server was sent, for the text of a failure.
func commandsTo(proxy *ftpserver.Proxy) string {
	var b strings.Builder
	for _, c := range proxy.Commands() {
		fmt.Fprintf(&b, "  %d %s\n", c.Conn, c.Line)
	}
	return b.String()
}
