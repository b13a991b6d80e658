//go:build linux && amd64

package crash

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"locksmith/protocol"
)

// A parent is at the other end of a helper's pipes. It is the tracer, which tells the test in
// lines what it sees:
//
//	helper PID          the helper was started
//	says LINE           it said so
//	silent              its output has ended
//	stop N WHEN CALL    where it was killed, or which call failed
//	change N WHEN CALL  the same, if the call changes something
//	spared CALL         the call that was to fail cannot fail
//	moment WHEN CALL    it pauses there
//	ended HOW stops=N   it has ended
//	between             of a pool: it has served its first lock
//	begun               of a pool: it has begun to serve the second one
//	closed              of a pool: the helper's input is closed
//
// The test says:
//
//	letgo               close the helper's input; of a pool: ask it to release
//	ask                 of a pool: ask the helper for the second lock
//	close               of a pool: close the helper's input
//	pause MOMENT        pause there next
//	go, stop, leave     what to do with a helper that pauses: let it go on; stop it
//	                    (SIGSTOP); let it go on without tracing it
type parent struct {
	toHelper io.WriteCloser
	letGo    bool
	locks    [][]string   // of a pool: the arguments of its requests
	moment   atomic.Value // string
	orders   chan string
	silent   chan struct{}
	stops    int

	mu sync.Mutex
}

func newParent(pid int, toHelper io.WriteCloser, p plan) *parent {
	all := &parent{toHelper: toHelper, letGo: p.LetGo, locks: p.Locks, orders: make(chan string), silent: make(chan struct{})}
	all.moment.Store(p.Moment)
	all.tell("helper %d", pid)
	return all
}

func (p *parent) tell(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Printf(format+"\n", args...)
}

// listen reads what the helper says.
func (p *parent) listen(out io.Reader) {
	defer close(p.silent)
	for s := bufio.NewScanner(out); s.Scan(); {
		if p.locks != nil {
			p.talk(s.Text())
			continue
		}
		p.tell("says %s", s.Text())
		if p.letGo && strings.HasPrefix(s.Text(), "OK ") {
			_ = p.toHelper.Close() // it is closed already only if this is the second OK
		}
	}
	p.tell("silent")
}

// obey does what the test says, until the test closes in.
func (p *parent) obey(in io.Reader) {
	for s := bufio.NewScanner(in); s.Scan(); {
		order, moment, _ := strings.Cut(s.Text(), " ")
		switch order {
		case "letgo":
			p.letsGo()
		case "ask":
			p.ask(protocol.WordAcquire, 2)
		case "close":
			_ = p.toHelper.Close() // the helper may have ended
			p.tell("closed")
		case "pause":
			p.moment.Store(moment)
		default:
			p.orders <- order
		}
	}
	os.Exit(1)
}

func (p *parent) letsGo() {
	if p.locks != nil {
		p.ask(protocol.WordRelease, 2)
		return
	}
	_ = p.toHelper.Close() // the helper may have ended
}

// talk goes on after a line of a helper that serves two locks. Of the second lock the test hears
// what it hears of a helper with one lock, and the parent lets go of the helper in the end.
func (p *parent) talk(text string) {
	line, err := protocol.Parse(text + "\n")
	first := err == nil && line.Number() == 1
	switch {
	case err == nil && line.Word == protocol.WordReady:
		p.ask(protocol.WordAcquire, 1)
	case first && line.Word == protocol.WordOK:
		p.ask(protocol.WordRelease, 1)
	case first && line.Word == protocol.WordReleased:
		p.tell("between")
	case first && line.Word == protocol.WordBegun:
	case err == nil && line.Word == protocol.WordBegun:
		p.tell("begun")
	default:
		p.tell("says %s", text)
		if line.Word != protocol.WordOK {
			_ = p.toHelper.Close()
		}
	}
}

// ask writes a request about the n-th lock.
func (p *parent) ask(word string, n uint64) {
	r := protocol.Request{Word: word, Number: n}
	if word == protocol.WordAcquire {
		r.Args = p.locks[n-1]
	}
	text, err := r.Line().Format()
	if err != nil {
		p.tell("says %v", err)
	}
	_, _ = io.WriteString(p.toHelper, text) // the helper may have ended
}

// ended tells how the helper ended.
func (p *parent) ended(status syscall.WaitStatus) {
	<-p.silent
	how := fmt.Sprintf("exit %d", status.ExitStatus())
	if status.Signaled() {
		how = fmt.Sprintf("signal %d", status.Signal())
	}
	p.tell("ended %s stops=%d", how, p.stops)
}
